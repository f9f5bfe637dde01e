// Tasks of teams: created by a post, taken by any waiting stream of the team, oldest first.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/interfaces.hpp"
#include "sim/program/program.hpp"

namespace autofinity::sim {

class Tasks final : public Repeatable {
  public:
    explicit Tasks(const Program& program)
        : program_(program), now_{std::vector<Queue>(program.instances.size()), {}} {}

    // A task (its unit) has been created.
    void add(std::uint32_t unit);
    // The first task that the stream may take, as its unit; or no_token.
    std::uint32_t take(std::uint32_t stream);
    // Ends a task; returns whether it was the last one of its instance.
    bool end(const Unit& unit) { return --now_.queues[unit.instance].unfinished == 0; }
    bool all_ended(std::uint32_t instance) const { return now_.queues[instance].unfinished == 0; }

    void remember() override { at_start_ = now_; }
    void restore() override { now_ = at_start_; }
    void forget(const Process& process) override;

  private:
    // Tasks of an instance that no stream has begun, in order of creation, and the number that have
    // not ended.
    struct Queue {
        std::vector<std::uint32_t> created;
        std::size_t first = 0;
        std::uint32_t unfinished = 0;
    };
    struct State {
        std::vector<Queue> queues;             // by instance
        std::vector<std::uint32_t> instances;  // with tasks that somebody could take
    };

    const Program& program_;
    State now_, at_start_;
};

}  // namespace autofinity::sim
