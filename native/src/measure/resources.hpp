// What a process used, and what the machine has left.
#pragma once

#include <cstdint>
#include <cstdio>

#include <sys/resource.h>

namespace collpress {

struct Usage {
    std::int64_t max_rss_bytes;
    std::int64_t voluntary_switches;
    std::int64_t involuntary_switches;
};

inline Usage usage_now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {usage.ru_maxrss * std::int64_t{1024}, usage.ru_nvcsw, usage.ru_nivcsw};
}

// Memory that this machine can still give, or -1 where the system does not say.
inline std::int64_t available_memory() {
    std::FILE *file = std::fopen("/proc/meminfo", "re");
    if (file == nullptr) return -1;
    char line[256];
    long long kib = -1;
    while (kib < 0 && std::fgets(line, sizeof line, file) != nullptr) {
        if (std::sscanf(line, "MemAvailable: %lld kB", &kib) != 1) kib = -1;
    }
    std::fclose(file);
    return kib < 0 ? -1 : kib * 1024;
}

} // namespace collpress
