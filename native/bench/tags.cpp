// What a tag costs: pairs of begin and end as a plugin calls them, through the table of the interface, and readings of
// the clock that they are made of. Prints JSON; compiled twice by bench/tags.py, with the counter and without.
#define COLLPRESS_TAGS

#include "collpress/clock.hpp"
#include "collpress/tag.h"
#include "p2p/tag_log.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

using namespace collpress;

constexpr std::int64_t pairs = 1000;
constexpr std::size_t rounds = 2001;

void begin(void *self, const char *name) { static_cast<TagLog *>(self)->begin(name, TagKind::phase); }
void end(void *self) { static_cast<TagLog *>(self)->end(); }

// The table that a plugin gets is filled elsewhere: the compiler must not see through it.
collpress_p2p table_of(TagLog &log) {
    collpress_p2p table{};
    table.self = &log;
    table.tag_begin = begin;
    table.tag_end = end;
    return table;
}

double of_one(std::int64_t start) { return static_cast<double>(now_ns() - start) / static_cast<double>(pairs); }

double clock_read_ns() {
    std::int64_t sum = 0;
    const std::int64_t start = now_ns();
    for (std::int64_t i = 0; i < pairs; ++i) sum += TagClock::now();
    const double spent = of_one(start);
    static volatile std::int64_t kept;
    kept = sum;
    return spent;
}

// Phases of three rounds each: `pairs` scopes in all.
double pair_ns(const collpress_p2p *volatile p2p, TagLog &log) {
    log.clear();
    const collpress_p2p *table = p2p;
    const std::int64_t start = now_ns();
    for (std::int64_t i = 0; i < pairs / 4; ++i) {
        CP_TAG_BEGIN(table, "phase");
        for (int round = 0; round < 3; ++round) {
            CP_TAG_BEGIN(table, "round");
            CP_TAG_END(table);
        }
        CP_TAG_END(table);
    }
    return of_one(start);
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + rounds / 2, values.end());
    return values[rounds / 2];
}

} // namespace

int main() {
    TagLog log;
    const collpress_p2p table = table_of(log);
    pair_ns(&table, log); // the first run takes memory
    std::vector<double> reads;
    std::vector<double> scopes;
    for (std::size_t round = 0; round < rounds; ++round) { // in turns: both see the same machine
        reads.push_back(clock_read_ns());
        scopes.push_back(pair_ns(&table, log));
    }
    std::printf("{\"clock\": \"%s\", \"clock_read_ns\": %.3f, \"pair_ns\": %.3f}\n", TagClock::name(),
                median(std::move(reads)), median(std::move(scopes)));
    return 0;
}
