// Which stretches of two streams synchronisation orders, and which may overlap in any replay.
//
// A stretch of a stream is what it does between two steps that are no accesses. A vector clock for
// each stream says up to which stretch of each other one it has waited: what a stream released at a
// lock, a barrier or a token it hands to who acquires there.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "program.hpp"

namespace autofinity::sim {

class StretchOrder {
  public:
    explicit StretchOrder(const Program& program);

    // `stream` ends its `stretch` at a step that is no access.
    void end(std::uint32_t stream, std::uint32_t stretch, const Step& step);
    // Whether `stream` cannot get to where it is before `other` has done with its `stretch`.
    bool is_after(std::uint32_t stream, std::uint32_t other, std::uint32_t stretch) {
        if (!pending_[stream].empty()) acquire(stream);
        return waited_[stream * streams_ + other] >= stretch;
    }

  private:
    using Clock = std::vector<std::uint32_t>;  // latest stretch of each stream
    static constexpr std::uint32_t no_token = ~std::uint32_t{0};
    struct Pending {
        const Clock* clock;
        std::uint32_t token;  // or none
    };
    struct Generations {
        std::uint64_t arrived = 0;
        Clock clocks[2];  // of the present generation and of the one before, by parity
    };

    template <class Visit>
    void each_await(const Step& step, Visit visit) const;
    // Once the stream goes on, all that it waited for has come.
    void acquire(std::uint32_t stream);
    void release(std::uint32_t stream, Clock& into);

    const Program& program_;
    std::size_t streams_;
    std::vector<std::uint32_t> waited_;          // [stream, other]
    std::vector<std::vector<Pending>> pending_;  // of each stream, since its latest access
    // By the number of the object; elements of such maps stay where they are.
    std::unordered_map<std::uint32_t, Clock> locks_, tokens_;
    std::unordered_map<std::uint32_t, Generations> barriers_;
    std::vector<std::uint32_t> awaits_left_;  // of each token; after the last its clock goes
};

}  // namespace autofinity::sim
