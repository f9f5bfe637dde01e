// A private stage as bytes, to be kept beside the trace it was derived from.
//
//   varint streams | kept accesses | of these racing | a range-coded walk over the program:
//
//   of each stream    what is not left of any step of the program's, up to the first that is
//   of each step      access: is it kept? (odds: stage_model.hpp)
//    that is kept     does the L1 give lines up before it? (those that it would by the
//                     program's steps, or others; or only tags?) | is there a tally before it?
//                     | what is left: where the line was found, the run's span, whether it
//                     pushes or trains (and begins a prefetch stream); no access: what its
//                     line's access found
//                     | what follows that is no step of the program's:
//     leave           which of the lines of its L2 set, by age; or the line
//     prefetch        line, from where the page's prefetches were; victims
//     L1 victim, tally, gap, and accesses that are parts of a run
//
// Lines, counts and times of what is kept are the program's own, so that bytes can make no lock of
// what was a barrier. To read it takes about two replays of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "private_stage.hpp"

namespace autofinity::sim {

// Bytes of `staged`, which was derived from `program` for cores like `machine`'s. Throws
// SimulationError for one that has no stage or is of another program.
std::vector<std::uint8_t> packed_stage(const Machine& machine, const Program& program,
                                       const Program& staged);

// The stage of `program` from its bytes, for cores like `machine`'s, with the streams on the same
// cores as in `pu_of_stream`. Throws SimulationError, naming the stream, for bytes that
// are no stage of this program.
ProgramPtr unpacked_stage(const Machine& machine, const Program& program,
                          const std::vector<std::uint32_t>& pu_of_stream, std::uint64_t seed,
                          std::span<const std::uint8_t> bytes);

}  // namespace autofinity::sim
