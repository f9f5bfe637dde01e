// PUs in order of when their next step is due: one word per PU, time and number, so that PUs that
// are due together run in the order of their numbers.
//
// The words are sorted. A PU whose turn ends gets a new word, and each place then holds the median
// of three: the new word and those that were at the place and after it. So a host has no branch to
// predict and no chain of operations, and knows the next PU early. (A heap, which stops where the
// order is right, is mispredicted every other time; in a tournament the second is found only by
// another descent from the top.) All other changes of the order are rare.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/machine.hpp"

namespace autofinity::sim {

class DuePus {
  public:
    static constexpr unsigned pu_bits = 10;
    static constexpr std::uint32_t most_pus = 1u << pu_bits;

    explicit DuePus(std::size_t pus) : there_(pus, false), blocks_(2, no_pus) {}

    bool empty() const { return first_ == absent; }
    bool contains(std::uint32_t pu) const { return there_[pu]; }
    std::uint32_t first() const { return pu_of(first_); }
    Ticks first_time() const { return time_of(first_); }
    // The latest time at which the first PU still comes before the second; `none` without a second.
    // Among two PUs that are due at one time, the one with the lower number comes first.
    Ticks first_until(Ticks none) const {
        if (second_ == absent) return none;
        return time_of(second_) - (pu_of(second_) < first());
    }

    void clear() {
        std::fill(there_.begin(), there_.end(), false);
        blocks_.assign(2, no_pus);
        used_ = 0;
        look();
    }
    // Adds a PU that is not there yet.
    void push(std::uint32_t pu, Ticks time) {
        there_[pu] = true;
        if (++used_ > (blocks_.size() - 1) * block_keys) blocks_.push_back(no_pus);
        insert(key_of(pu, time));
    }
    void remove(std::uint32_t pu) {
        if (!there_[pu]) return;
        there_[pu] = false;
        --used_;
        erase(pu);
    }
    // A PU is due at `time` instead.
    [[gnu::always_inline]] void delay(std::uint32_t pu, Ticks time) {
        if (first() == pu) [[likely]]
            return replace_first(key_of(pu, time));
        move(pu, time);
    }
    // Moves a PU to an earlier time than before, but never before the first one. Nothing happens to
    // the first one, nor to an absent one.
    void advance(std::uint32_t pu, Ticks time) {
        if (contains(pu) && pu != first()) move(pu, std::max(time, first_time()));
    }

  private:
    static constexpr std::size_t block_keys = 8;
    struct alignas(64) Block {
        std::uint64_t keys[block_keys];
    };
    // As floating-point numbers keys have the same order, and every host finds the lesser and the
    // greater of these at once; none may be denormal, which a host may take for 0.
    static constexpr std::uint64_t least = std::uint64_t{1} << 60;
    static constexpr std::uint64_t absent = 0x7FEFFFFFFFFFFFFF;  // the greatest number
    static constexpr Block no_pus{{absent, absent, absent, absent, absent, absent, absent, absent}};

    // As many keys as a host compares at once; the same one in all places; those one place on.
    // Eight at once are slower than four (measured on a Xeon: docs/performance.md).
#if defined(__AVX512F__)
    using Lanes [[gnu::vector_size(32), gnu::may_alias]] = double;
    [[gnu::always_inline]] static void fill(Lanes& lanes, double key) {
        lanes = Lanes{key, key, key, key};
    }
    [[gnu::always_inline]] static void shift(Lanes& here, const Lanes& next) {
        here = __builtin_shufflevector(here, next, 1, 2, 3, 4);
    }
#else
    using Lanes [[gnu::vector_size(16), gnu::may_alias]] = double;
    [[gnu::always_inline]] static void fill(Lanes& lanes, double key) { lanes = Lanes{key, key}; }
    [[gnu::always_inline]] static void shift(Lanes& here, const Lanes& next) {
        here = __builtin_shufflevector(here, next, 1, 2);
    }
#endif
    static constexpr std::size_t block_lanes = sizeof(Block) / sizeof(Lanes);

    static std::uint64_t key_of(std::uint32_t pu, Ticks time) {
        return (time << pu_bits | pu) + least;
    }
    static std::uint32_t pu_of(std::uint64_t key) {
        return static_cast<std::uint32_t>(key & (most_pus - 1));
    }
    static Ticks time_of(std::uint64_t key) { return (key - least) >> pu_bits; }

    std::uint64_t& at(std::size_t i) { return blocks_[i / block_keys].keys[i % block_keys]; }

    [[gnu::noinline]] void move(std::uint32_t pu, Ticks time) {
        remove(pu);
        push(pu, time);
    }
    // At each place the median of `key`, the key there and the key after it; at the first place the
    // lesser of `key` and the second.
    [[gnu::always_inline]] void replace_first(std::uint64_t key) {
        // Rarely true: a host goes on with the second before it knows the key.
        if (key < second_) [[unlikely]] {
            blocks_[0].keys[0] = first_ = key;
            return;
        }
        first_ = second_;
        second_ = std::min(key, blocks_[0].keys[2]);

        const Block* const end = &blocks_.back();
        Lanes replacing;
        fill(replacing, std::bit_cast<double>(key));
        Lanes here = *reinterpret_cast<Lanes*>(blocks_.data());
        Lanes later = here > replacing ? here : replacing;
        later[0] = replacing[0];
        for (Block* block = blocks_.data(); block != end; ++block) {
            auto* const at = reinterpret_cast<Lanes*>(block);
            for (std::size_t i = 0; i != block_lanes; ++i) {
                const Lanes next = at[i + 1];
                shift(here, next);
                at[i] = here < later ? here : later;
                here = next;
                later = here > replacing ? here : replacing;
            }
        }
    }
    void insert(std::uint64_t key) {
        for (std::size_t i = 0; key != absent; ++i) {
            std::uint64_t& here = at(i);
            if (key < here) std::swap(key, here);
        }
        look();
    }
    void erase(std::uint32_t pu) {
        std::size_t i = 0;
        while (pu_of(at(i)) != pu || at(i) == absent) ++i;
        for (; at(i) != absent; ++i) at(i) = at(i + 1);
        look();
    }

    void look() {
        first_ = blocks_[0].keys[0];
        second_ = blocks_[0].keys[1];
    }

    std::vector<bool> there_;    // by PU
    std::vector<Block> blocks_;  // sorted; after the last key `absent`, a block of it at the end
    std::size_t used_ = 0;
    std::uint64_t first_ = absent, second_ = absent;
};

}  // namespace autofinity::sim
