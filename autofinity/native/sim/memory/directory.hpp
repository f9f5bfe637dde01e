// The directory: holders of each line. It knows L2 domains, not cores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine_kind.hpp"
#include "sharers.hpp"
#include "sim/types.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

// The sharers are L2 domains in use that have the line in an L1 or L2, the owner too; `Sharers` has
// those beyond the first 64.
struct DirectoryLine {
    std::uint64_t first_sharers;
    std::uint32_t llcs;               // domains whose LLC has it
    std::uint16_t owner_plus_one;     // L2 domain that has it M, E or O; 0: none
    std::uint8_t dirty_llc_plus_one;  // LLC that must write it back; 0: none
    std::uint8_t forwarder_plus_one;  // LLC of the agent that got it last
};
static_assert(sizeof(DirectoryLine) == 16);

class Directory {
  public:
    Directory(std::uint32_t lines, std::uint32_t most_domains)
        : lines_(lines),
          more_words_((most_domains - 1) / domains_in_a_word),
          more_sharers_(std::size_t{lines} * more_words_) {}

    std::size_t size() const { return lines_.size(); }
    DirectoryLine& operator[](Line line) { return lines_[line]; }
    const DirectoryLine& operator[](Line line) const { return lines_[line]; }

    // Words of a line's sharers after the first.
    std::uint32_t more_words() const { return more_words_; }
    template <bool many = true>
    SharersOf<many> sharers(Line line, DirectoryLine& d) {
        if constexpr (!many) return {d.first_sharers, nullptr, 0};
        return {d.first_sharers, more_sharers_.data() + std::size_t{line} * more_words_,
                more_words_};
    }
    Sharers sharers(Line line) { return sharers(line, lines_[line]); }

    // Whether another directory of the same size knows the same sharers of a line.
    bool same_sharers(const Directory& other, Line line) const {
        const std::size_t first = std::size_t{line} * more_words_;
        for (std::size_t i = first; i < first + more_words_; ++i)
            if (more_sharers_[i] != other.more_sharers_[i]) return false;
        return lines_[line].first_sharers == other.lines_[line].first_sharers;
    }

    // Whether an L2 domain has the line; its arrays know the state.
    template <MachineKind kind>
    bool holds(std::uint32_t domain, Line line) const {
        if (Asked<kind>::known || domain < domains_in_a_word)
            return (lines_[line].first_sharers >> domain & 1) != 0;
        const std::size_t word = domain / domains_in_a_word - 1;
        return (more_sharers_[line * std::size_t{more_words_} + word] >>
                    domain % domains_in_a_word &
                1) != 0;
    }
    // Whether no core has the line.
    template <MachineKind kind = MachineKind::any>
    bool in_no_core(Line line, DirectoryLine& d) {
        return d.first_sharers == 0 &&
               (!Asked<kind>::many_sharers(more_words_) || sharers(line, d).none());
    }
    // No cache has the line any more.
    void forget(Line line) {
        sharers(line).clear();
        lines_[line] = DirectoryLine{};
    }

  private:
    Zeroed<DirectoryLine> lines_;
    const std::uint32_t more_words_;
    Zeroed<std::uint64_t> more_sharers_;  // by line
};

}  // namespace autofinity::sim
