// Binary decisions in fractions of a bit: a range coder (Martin 1979, with the carry of LZMA's) and
// probabilities that adapt. Encoder and decoder have the same face, so that one function says how
// something is told and how it is read.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace autofinity::sim {

// That a bit is 1, in 65,536ths: the mean of one that follows quickly and one that is exact.
class Probability {
  public:
    std::uint32_t of_one() const { return (quick_ + exact_) / 2u; }  // never 0 nor 65,536
    void learn(bool one) {
        quick_ = static_cast<std::uint16_t>(one ? quick_ + ((65536u - quick_) >> 4)
                                                : quick_ - (quick_ >> 4));
        exact_ = static_cast<std::uint16_t>(one ? exact_ + ((65536u - exact_) >> 7)
                                                : exact_ - (exact_ >> 7));
    }

  private:
    std::uint16_t quick_ = 1u << 15, exact_ = 1u << 15;
};

inline constexpr std::uint32_t least_range = 1u << 24;

class RangeEncoder {
  public:
    static constexpr bool decodes = false;

    explicit RangeEncoder(std::vector<std::uint8_t>& out) : out_(out) {}

    bool bit(Probability& probability, bool one) {
        const std::uint32_t bound = (range_ >> 16) * probability.of_one();
        if (one) {
            range_ = bound;
        } else {
            low_ += bound;
            range_ -= bound;
        }
        probability.learn(one);
        while (range_ < least_range) {
            range_ <<= 8;
            shift();
        }
        return one;
    }
    void finish() {
        for (int i = 0; i < 5; ++i) shift();
    }

  private:
    // Bytes of all ones wait for a carry.
    void shift() {
        if (low_ < 0xFF000000u || low_ > UINT32_MAX) {
            const auto carry = static_cast<std::uint8_t>(low_ >> 32);
            if (begun_) out_.push_back(static_cast<std::uint8_t>(first_ + carry));
            for (; waiting_ != 0; --waiting_)
                out_.push_back(static_cast<std::uint8_t>(0xFFu + carry));
            first_ = static_cast<std::uint8_t>(low_ >> 24);
            begun_ = true;
        } else {
            ++waiting_;
        }
        low_ = (low_ & 0x00FFFFFFu) << 8;
    }

    std::vector<std::uint8_t>& out_;
    std::uint64_t low_ = 0, waiting_ = 0;
    std::uint32_t range_ = UINT32_MAX;
    std::uint8_t first_ = 0;
    bool begun_ = false;
};

class RangeDecoder {
  public:
    static constexpr bool decodes = true;

    explicit RangeDecoder(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
        for (int i = 0; i < 4; ++i) code_ = code_ << 8 | next();
    }

    // What the encoder was given; the second argument is its own.
    bool bit(Probability& probability, bool) {
        const std::uint32_t bound = (range_ >> 16) * probability.of_one();
        const bool one = code_ < bound;
        if (one) {
            range_ = bound;
        } else {
            code_ -= bound;
            range_ -= bound;
        }
        probability.learn(one);
        while (range_ < least_range) {
            range_ <<= 8;
            code_ = code_ << 8 | next();
        }
        return one;
    }
    // More was asked for than there is; all bits since were made up.
    bool overrun() const { return at_ > bytes_.size(); }
    bool at_end() const { return at_ == bytes_.size(); }

  private:
    std::uint8_t next() { return at_++ < bytes_.size() ? bytes_[at_ - 1] : std::uint8_t{0}; }

    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    std::uint32_t range_ = UINT32_MAX, code_ = 0;
};

// One of 2^bits values.
template <unsigned bits>
class Symbol {
  public:
    template <class Coder>
    std::uint32_t code(Coder& coder, std::uint32_t value) {
        std::uint32_t node = 1;
        for (unsigned i = bits; i-- > 0;)
            node = node << 1 | coder.bit(node_[node], (value >> i & 1) != 0);
        return node - (1u << bits);
    }

  private:
    Probability node_[1u << bits];
};

// A number: how many bits it has, then these, of which the first three are learnt.
class Number {
  public:
    template <class Coder>
    std::uint32_t code(Coder& coder, std::uint32_t value) {
        const std::uint32_t length =
            length_.code(coder, static_cast<std::uint32_t>(std::bit_width(value)));
        if (length <= 1 || length > 32) return length;
        std::uint32_t result = 1, node = 1;
        for (unsigned i = length - 1; i-- > 0;) {
            Probability& probability = node < 8 ? high_[length][node] : low_[length];
            const bool one = coder.bit(probability, (value >> i & 1) != 0);
            result = result << 1 | one;
            node = node << 1 | one;
        }
        return result;
    }

  private:
    Symbol<6> length_;
    Probability high_[33][8];
    Probability low_[33];
};

// A difference that may have either sign.
inline std::uint32_t folded(std::uint32_t difference) {
    return difference << 1 ^ (0u - (difference >> 31));
}
inline std::uint32_t unfolded(std::uint32_t number) { return number >> 1 ^ (0u - (number & 1)); }

}  // namespace autofinity::sim
