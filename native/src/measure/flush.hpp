// Takes memory out of every cache of the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace collpress {

// Empty where this processor can be told to; else why not.
inline std::string flush_refusal() {
#if defined(__x86_64__) || defined(__aarch64__)
    return {};
#else
    return "this processor's caches cannot be flushed by a program, so nothing can be measured with cold buffers";
#endif
}

// Returns when the memory is in no cache any more.
inline void flush(const std::byte *memory, std::size_t bytes) {
    if (bytes == 0) return;
    constexpr std::uintptr_t line = 64;
    const std::byte *first = memory - reinterpret_cast<std::uintptr_t>(memory) % line;
    for (const std::byte *at = first; at < memory + bytes; at += line) {
#if defined(__x86_64__)
        _mm_clflush(at);
#elif defined(__aarch64__)
        asm volatile("dc civac, %0" ::"r"(at) : "memory");
#endif
    }
#if defined(__x86_64__)
    _mm_mfence();
#elif defined(__aarch64__)
    asm volatile("dsb sy" ::: "memory");
#endif
}

} // namespace collpress
