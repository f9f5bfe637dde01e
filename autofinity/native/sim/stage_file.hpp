// A private stage as bytes, to be kept beside the trace it was derived from.
//
//   u32 streams | u64 kept accesses, u64 of these racing | of each stream: its chunks, its tallies
//
// Steps are told in events of the trace format, in chunks packed as the trace's own are
// (trace/codec.h), so that what repeats costs next to nothing:
//
//   access     line, reads, writes, span, flags; gap = gap << 5 | what (below)
//   other 1    the next step of the program's stream that is no access; span: what its line's
//              access found
//   other 2    the next tally
//   other 3    a gap that had to be split
//
// Steps that are no accesses are the program's own: bytes cannot make a lock of what was a barrier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "private_stage.hpp"

namespace autofinity::sim {

// Bytes of a program that has a stage. Throws SimulationError for one that has none.
std::vector<std::uint8_t> packed_stage(const Program& staged);

// The stage of `program` from its bytes, for cores like `machine`'s, with the streams on the same
// cores as in `pu_of_stream`. Throws SimulationError, naming the stream, for bytes that no
// derivation of this program could have made.
ProgramPtr unpacked_stage(const Machine& machine, const Program& program,
                          const std::vector<std::uint32_t>& pu_of_stream, std::uint64_t seed,
                          std::span<const std::uint8_t> bytes);

}  // namespace autofinity::sim
