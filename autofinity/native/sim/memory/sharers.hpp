// Holders of a line: L2 domains in use, by number, as the bits of words.
//
// The first word is in the line's entry of the directory, which then has 16 bytes. Where more than
// 64 cores are in use at a time, the other words are in an array beside the directory. The most
// frequent operations are compiled for both cases, so that a single word has no extra cost.
#pragma once

#include <bit>
#include <cstdint>

#include "bits.hpp"

namespace autofinity::sim {

inline constexpr std::uint32_t domains_in_a_word = 64;

// `many`: there may be words after the first one.
template <bool many>
class SharersOf {
  public:
    SharersOf(std::uint64_t& first, std::uint64_t* more, std::uint32_t n_more)
        : first_(first), more_(more), n_more_(n_more) {}

    std::uint32_t words() const { return many ? n_more_ + 1 : 1; }
    std::uint64_t word(std::uint32_t i) const { return !many || i == 0 ? first_ : more_[i - 1]; }

    bool has(std::uint32_t domain) const {
        return (word(domain / domains_in_a_word) >> domain % domains_in_a_word & 1) != 0;
    }
    bool none() const {
        std::uint64_t any = 0;
        for (std::uint32_t i = 0; i < words(); ++i) any |= word(i);
        return any == 0;
    }
    bool several() const {
        if constexpr (!many) return (first_ & (first_ - 1)) != 0;
        int count = 0;
        for (std::uint32_t i = 0; i < words(); ++i) count += std::popcount(word(i));
        return count > 1;
    }
    bool any_of(const std::uint64_t* these) const {
        std::uint64_t any = 0;
        for (std::uint32_t i = 0; i < words(); ++i) any |= word(i) & these[i];
        return any != 0;
    }
    bool any_but(std::uint32_t domain) const {
        if constexpr (!many) return (first_ & ~bit(domain)) != 0;
        return several() || (!none() && !has(domain));
    }

    void add(std::uint32_t domain) { at(domain) |= bit(domain); }
    void remove(std::uint32_t domain) { at(domain) &= ~bit(domain); }
    void clear() {
        for (std::uint32_t i = 0; i < words(); ++i) word_at(i) = 0;
    }

    // Visits the sharers in order of their numbers.
    template <typename Visit>
    void each(Visit&& visit) const {
        for (std::uint32_t i = 0; i < words(); ++i)
            each_bit(word(i), [&](auto bit) { visit(i * domains_in_a_word + bit); });
    }
    // Removes those among `these` from the set, after a visit to each.
    template <typename Visit>
    void take(const std::uint64_t* these, Visit&& visit) {
        for (std::uint32_t i = 0; i < words(); ++i) {
            const std::uint64_t bits = word(i) & these[i];
            each_bit(bits, [&](auto bit) { visit(i * domains_in_a_word + bit); });
            word_at(i) &= ~bits;
        }
    }

  private:
    static std::uint64_t bit(std::uint32_t domain) {
        return std::uint64_t{1} << domain % domains_in_a_word;
    }
    std::uint64_t& word_at(std::uint32_t i) { return !many || i == 0 ? first_ : more_[i - 1]; }
    std::uint64_t& at(std::uint32_t domain) { return word_at(domain / domains_in_a_word); }

    std::uint64_t& first_;
    std::uint64_t* more_;
    std::uint32_t n_more_;
};

using Sharers = SharersOf<true>;

}  // namespace autofinity::sim
