// Repeats of the region of interest, so that a short capture makes a run that is long enough for
// periodic looks.
//
// Each time begins where the first one did: every stream at its step, every lock, barrier and token
// as it was. The caches, the translations and the nodes of pages stay as the last repeat left them,
// and nothing outside the region takes simulated time.
#pragma once

#include <cstdint>
#include <vector>

#include "board.hpp"
#include "sim/interfaces.hpp"

namespace autofinity::sim {

class Repeats final : public Repeatable {
  public:
    // `parts`: state that is repeated besides the streams. `left`: number of further repeats.
    Repeats(Board& board, std::vector<Repeatable*> parts, std::uint32_t left)
        : board_(board), parts_(std::move(parts)), left_(left) {}

    std::uint32_t left() const { return left_; }
    void begin_again() { --left_; }
    // Whether the region begins in the middle of its streams, as remembered.
    bool remembered() const { return !starts_.empty(); }
    Status status_at_start(std::uint32_t stream) const { return starts_[stream].status; }

    void remember() override;
    void restore() override;
    void forget(const Process& process) override;

  private:
    struct Start {
        Progress progress;
        Status status;
    };

    Board& board_;
    std::vector<Repeatable*> parts_;
    std::uint32_t left_;
    std::vector<Start> starts_;  // of the streams
};

}  // namespace autofinity::sim
