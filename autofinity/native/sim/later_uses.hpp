// When a thread next needs a line that is taken back from it: by a full directory, or by an LLC
// that includes what its cores hold.
//
// A private stage has no steps for accesses that find their line in the core. They are replayed
// where the line is not there, so it must be known when they come. Told of each stream are, for
// each of its lines, those of its uses that the stage has no step for, and what befalls the line in
// between, as a core that loses nothing would have it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "machine.hpp"
#include "program.hpp"
#include "shared_lines.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

struct LaterUse {
    enum Kind : std::uint8_t {
        hit,     // an access that the L1 serves
        miss,    // one that the L2 serves
        victim,  // the L1 gives the line up
        ahead,   // the prefetcher would fetch the line if it were not there
        kept,    // a load of what is in the core, for which the stage has a step
        anew,    // a step of the stage fetches the line, writes it or has it leave
    };
    enum Access : std::uint8_t { load, store, load_and_store };

    std::uint64_t at = 0;  // instruction of the stream
    Kind kind = anew;
    Access access = load;
    bool needed = false;    // the next instruction waits for the access
    bool modified = false;  // victim: written since it came
    // hit: instruction at which a line last came into its L1 set since the use before; 0: none. An
    // L1 that had lost the line by then has given up its tag, too.
    std::uint64_t filled = 0;
};

class LaterUses {
  public:
    // `staged`: what a stage leaves of each stream of the program. Costs about as much as one
    // replay of the program.
    LaterUses(const Program& program, const std::vector<StreamPlan>& staged,
              const SharedLines& shared, const CoreClass& core);

    // Where uses that are this close follow each other only the first is told, and none that
    // follows a kept one; all are told as at a multiple of it. Instructions: what a core does
    // while it waits for one line.
    static constexpr std::uint64_t resolution = 256;

    std::size_t lines() const;  // with uses, of all streams

  private:
    friend class LaterUsesReader;

    // Lines in order, and where the uses of each begin: varints of the distance from the one before
    // and what it is, and of the distance from the L1 set's latest fill where it tells that.
    struct OfStream {
        std::vector<Line> lines;
        std::vector<std::uint32_t> begin;  // one more than lines
        std::vector<std::uint8_t> uses;
    };
    class Builder;

    std::vector<OfStream> streams_;
};

// Those of a program that runs on `machine` from a stage; none where nothing takes lines back.
std::shared_ptr<const LaterUses> later_uses_on(const Machine& machine, const Program& program,
                                               const std::vector<StreamPlan>& staged,
                                               const SharedLines& shared);

// One replay's way through them.
class LaterUsesReader {
  public:
    explicit LaterUsesReader(std::shared_ptr<const LaterUses> uses);

    // Calls `take(use)` for each that comes after instruction `here`, in order, until it returns
    // false.
    template <typename Take>
    void after(std::uint32_t stream, Line line, std::uint64_t here, Take&& take) {
        const std::size_t place = place_of(stream, line);
        if (place == none) return;
        for (Cursor at = skip_to(stream, place, here / LaterUses::resolution);
             has(stream, place, at);)
            if (!take(next(stream, place, at))) return;
    }

  private:
    // In the uses of a line: byte, and the position of the use before it.
    struct Cursor {
        std::uint32_t byte, before;
    };
    static constexpr std::size_t none = ~std::size_t{0};

    std::size_t place_of(std::uint32_t stream, Line line) const;
    Cursor skip_to(std::uint32_t stream, std::size_t place, std::uint64_t position);
    bool has(std::uint32_t stream, std::size_t place, const Cursor& at) const;
    LaterUse next(std::uint32_t stream, std::size_t place, Cursor& at) const;

    std::shared_ptr<const LaterUses> uses_;
    std::vector<std::size_t> first_;  // of each stream
    Zeroed<Cursor> reached_;          // of each line of each stream
};

}  // namespace autofinity::sim
