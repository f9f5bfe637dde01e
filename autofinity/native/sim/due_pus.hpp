// PUs in order of when their next step is due: a tournament of one word per PU, time << 10 | PU, so
// that PUs that are due together run in the order of their numbers.
//
//     keys_:  1 the first of all
//             2 3 the first of either half
//             4 5 6 7 … the PUs themselves, each at the leaf it got when it first came
//
// A change goes up from its leaf and takes as many steps whatever it is, none of which a host has
// to guess: a heap, which stops where the order is right, is guessed wrong every other time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "machine.hpp"

namespace autofinity::sim {

class DuePus {
  public:
    static constexpr unsigned pu_bits = 10;
    static constexpr std::uint32_t most_pus = 1u << pu_bits;

    explicit DuePus(std::size_t pus) : leaf_of_(pus, no_leaf), keys_(2, absent) {}

    bool empty() const { return keys_[1] == absent; }
    bool contains(std::uint32_t pu) const {
        return leaf_of_[pu] != no_leaf && keys_[leaves_ + leaf_of_[pu]] != absent;
    }
    std::uint32_t first() const { return static_cast<std::uint32_t>(keys_[1] & (most_pus - 1)); }
    Ticks first_time() const { return keys_[1] >> pu_bits; }
    // The latest time at which the first PU still comes before the second; `none` when there is no
    // second. Of two that are due at one time the one with the lower number comes first.
    Ticks first_until(Ticks none) const {
        std::uint64_t second = absent;
        for (std::size_t i = leaves_ + leaf_of_[first()]; i > 1; i /= 2)
            second = std::min(second, keys_[i ^ 1]);
        if (second == absent) return none;
        return (second >> pu_bits) - ((second & (most_pus - 1)) < first());
    }

    void clear() { std::fill(keys_.begin(), keys_.end(), absent); }
    void push(std::uint32_t pu, Ticks time) {
        if (leaf_of_[pu] == no_leaf) {
            if (leaves_used_ == leaves_) grow();
            leaf_of_[pu] = leaves_used_++;
        }
        put(pu, key_of(pu, time));
    }
    void remove(std::uint32_t pu) { put(pu, absent); }
    // A PU that is there is due at `time` instead.
    void delay(std::uint32_t pu, Ticks time) { put(pu, key_of(pu, time)); }
    // The same of one that is due earlier than it was, but never before the first one. Nothing
    // happens to the first one, nor to one that is not there.
    void advance(std::uint32_t pu, Ticks time) {
        if (contains(pu) && pu != first()) put(pu, key_of(pu, std::max(time, first_time())));
    }

  private:
    static constexpr std::uint64_t absent = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::uint32_t no_leaf = std::numeric_limits<std::uint32_t>::max();

    static std::uint64_t key_of(std::uint32_t pu, Ticks time) { return time << pu_bits | pu; }
    void put(std::uint32_t pu, std::uint64_t key) {
        std::size_t i = leaves_ + leaf_of_[pu];
        keys_[i] = key;
        while (i > 1) {
            key = std::min(key, keys_[i ^ 1]);
            i /= 2;
            keys_[i] = key;
        }
    }
    // Twice the leaves; those there are keep their numbers.
    void grow() {
        std::vector<std::uint64_t> keys(std::size_t{4} * leaves_, absent);
        std::copy(keys_.begin() + leaves_, keys_.end(), keys.begin() + 2 * leaves_);
        leaves_ *= 2;
        for (std::size_t i = leaves_ - 1; i > 0; --i)
            keys[i] = std::min(keys[2 * i], keys[2 * i + 1]);
        keys_ = std::move(keys);
    }

    std::vector<std::uint32_t> leaf_of_;  // by PU
    std::vector<std::uint64_t> keys_;
    std::uint32_t leaves_ = 1, leaves_used_ = 0;
};

}  // namespace autofinity::sim
