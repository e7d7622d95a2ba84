// Which algorithm of the library's ran? A judgement from what a call looked like, beside what calls of known algorithms
// look like. Looks are texts that are equal or not: traffic.hpp and fingerprint.hpp make them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace collpress {

// Of the library's algorithms of one collective, by name, for one shape of call.
struct Looks {
    // What the schedules of our algorithms of the same name, which are verified without the library, look like.
    std::map<std::string, std::set<std::string>> of_schedules;
    // What the library did when it was told to use it, whatever that was.
    std::map<std::string, std::string> in_library;
    // Those that need what this call does not have, in words: the library may silently use another one.
    std::map<std::string, std::string> unmet;
};

struct Judgement {
    enum class Kind {
        verified,   // looks like the schedule of the algorithm that was asked for, and like no other's
        consistent, // looks like several, or has no schedule to compare with
        fell_back,  // looks like the schedule of another one
        unverified  // cannot be seen
    };

    Kind kind = Kind::unverified;
    std::vector<std::string> consistent_with;
    std::string reason; // empty where there is nothing to say
};

const char *judgement_name(Judgement::Kind kind);

Judgement judge(const std::string &requested, const std::string &seen, const Looks &looks);

} // namespace collpress
