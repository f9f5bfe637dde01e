// Accesses of a stream that were put off to a later instruction than their step has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "program.hpp"

namespace autofinity::sim {

// What was taken back of a run (runs.cpp), or what a private stage has no step for, of a line that
// was taken back from the core (recalls.cpp).
struct Deferred {
    std::uint64_t at;  // instruction of the stream
    Step step;
    bool recalled = false;     // of a line; a tally to come counts the access, too
    std::uint64_t filled = 0;  // as of its use
};

// The earliest comes first.
class DeferredSteps {
  public:
    bool empty() const { return steps_.empty(); }
    std::size_t size() const { return steps_.size(); }
    const Deferred& first() const { return steps_.back(); }
    Deferred take_first() {
        const Deferred first = steps_.back();
        steps_.pop_back();
        return first;
    }
    // What has just been taken.
    void put_back(const Deferred& first) { steps_.push_back(first); }
    void add(const Deferred& step) {
        steps_.insert(std::upper_bound(steps_.begin(), steps_.end(), step, is_later), step);
    }
    // A line may come back, and be taken back again, before it is used.
    void add_once(const Deferred& step) {
        auto at = std::lower_bound(steps_.begin(), steps_.end(), step, is_later);
        for (; at != steps_.end() && !is_later(step, *at); ++at)
            if (at->recalled && at->step.kind == step.step.kind) return;
        steps_.insert(at, step);
    }
    void clear() { steps_.clear(); }

  private:
    // Uses of lines that were taken back are known to some hundred instructions: prefetches come
    // before accesses, and lines in the order in which prefetchers see them most.
    static bool is_later(const Deferred& a, const Deferred& b) {
        const auto place = [](const Deferred& d) {
            return std::tuple(d.at, d.recalled ? d.step.line : 0, d.recalled && is_access(d.step));
        };
        return place(a) > place(b);
    }

    std::vector<Deferred> steps_;  // the first one last
};

}  // namespace autofinity::sim
