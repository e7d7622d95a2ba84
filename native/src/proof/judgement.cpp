#include "proof/judgement.hpp"

namespace collpress {

namespace {

std::string listed(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

bool has_schedule(const Looks &looks, const std::string &name) {
    const auto found = looks.of_schedules.find(name);
    return found != looks.of_schedules.end() && !found->second.empty();
}

bool fits_schedule(const Looks &looks, const std::string &name, const std::string &seen) {
    return has_schedule(looks, name) && looks.of_schedules.at(name).contains(seen);
}

// Algorithms other than the one asked for: by their schedules, and, where they have what they need, by what the library
// did for them.
std::vector<std::string> others(const std::string &requested, const std::string &seen, const Looks &looks,
                                bool by_schedule_only) {
    std::set<std::string> names;
    for (const auto &[name, schedules] : looks.of_schedules) {
        if (schedules.contains(seen)) names.insert(name);
    }
    for (const auto &[name, look] : looks.in_library) {
        if (!by_schedule_only && look == seen && !looks.unmet.contains(name)) names.insert(name);
    }
    names.erase(requested);
    return {names.begin(), names.end()};
}

Judgement replaced(const std::string &requested, const std::vector<std::string> &by, const std::string &because) {
    std::string ran = by.size() == 1 ? by.front() : "one of " + listed(by);
    return {Judgement::Kind::fell_back, by, "the library ran " + ran + " in place of " + requested + because};
}

} // namespace

const char *judgement_name(Judgement::Kind kind) {
    switch (kind) {
    case Judgement::Kind::verified:
        return "verified";
    case Judgement::Kind::consistent:
        return "consistent";
    case Judgement::Kind::fell_back:
        return "fell back";
    case Judgement::Kind::unverified:
        return "unverified";
    }
    return "";
}

Judgement judge(const std::string &requested, const std::string &seen, const Looks &looks) {
    std::vector<std::string> alike = others(requested, seen, looks, false);
    if (requested == "default") {
        if (alike.empty())
            return {Judgement::Kind::unverified, {}, "the library's own choice looks like no algorithm that it names"};
        return {Judgement::Kind::consistent, alike, ""};
    }
    if (fits_schedule(looks, requested, seen)) {
        if (alike.empty()) return {Judgement::Kind::verified, {requested}, ""};
        alike.insert(alike.begin(), requested);
        return {Judgement::Kind::consistent, alike, "these look alike in such a call"};
    }
    const std::vector<std::string> by_schedule = others(requested, seen, looks, true);
    if (const auto unmet = looks.unmet.find(requested); unmet != looks.unmet.end()) {
        if (!by_schedule.empty()) return replaced(requested, by_schedule, ", which " + unmet->second);
        if (!alike.empty()) return replaced(requested, alike, ", which " + unmet->second);
        return {Judgement::Kind::unverified,
                {},
                requested + " " + unmet->second + "; what ran looks like no algorithm that the library names"};
    }
    const bool expected = has_schedule(looks, requested);
    if (expected && !by_schedule.empty()) return replaced(requested, by_schedule, "");
    alike.insert(alike.begin(), requested);
    if (expected)
        return {Judgement::Kind::unverified, alike, "it does not look like the schedule of our algorithm of that name"};
    return {Judgement::Kind::consistent, alike, "we have no algorithm of that name"};
}

} // namespace collpress
