// Text on the waits of all streams.
#pragma once

#include <string>

#include "barriers.hpp"
#include "locks.hpp"
#include "sim/program/program.hpp"
#include "sim/replay/board.hpp"
#include "tokens.hpp"

namespace autofinity::sim {

std::string deadlock_text(const Program& program, const Board& board, const Tokens& tokens,
                          const Locks& locks, const Barriers& barriers);

}  // namespace autofinity::sim
