// What this CPU can do, asked of the CPU itself: not every toolchain's runtime library has __builtin_cpu_supports.
#ifndef COLLPRESS_CODECS_CPU_HPP
#define COLLPRESS_CODECS_CPU_HPP

// COLLPRESS_PORTABLE leaves the vector kernels out; the streams stay the same, byte for byte.
#if defined(__x86_64__) && !defined(COLLPRESS_PORTABLE)
#define COLLPRESS_X86_KERNELS 1
#include <cpuid.h>
#else
#define COLLPRESS_X86_KERNELS 0
#endif

namespace collpress::codecs {

// AVX2 in the CPU, and its registers saved by the operating system.
inline bool has_avx2() {
#if COLLPRESS_X86_KERNELS
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0) return false;
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6u) != 6u) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX2) != 0;
#else
    return false;
#endif
}

// BMI2, and BMI1 with it.
inline bool has_bmi2() {
#if COLLPRESS_X86_KERNELS
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_BMI) != 0 && (b & bit_BMI2) != 0;
#else
    return false;
#endif
}

} // namespace collpress::codecs
#endif
