// Accesses of a stream that were put off to a later instruction than their step has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/program/program.hpp"

namespace autofinity::sim {

// The part of a burst that was taken back (bursts.cpp).
struct Deferred {
    std::uint64_t at;  // instruction of the stream
    Step step;
};

// Deferred steps, the earliest first.
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
    // Puts back the step that has just been taken.
    void put_back(const Deferred& first) { steps_.push_back(first); }
    void add(const Deferred& step) {
        steps_.insert(std::upper_bound(steps_.begin(), steps_.end(), step, is_later), step);
    }
    void clear() { steps_.clear(); }

  private:
    static bool is_later(const Deferred& a, const Deferred& b) { return a.at > b.at; }

    std::vector<Deferred> steps_;  // the first one last
};

}  // namespace autofinity::sim
