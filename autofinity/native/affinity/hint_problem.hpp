// All core sets that match a hint best: the definition's three keys as a shortest path.
//
// The keys are, in the order given by P: sockets used (more first if S), Σc² over domains (smaller
// first if L), then Σ(threads per socket)² (smaller first if S). All three are sums over sockets,
// and two of them depend only on a socket's number of threads T, so a socket enters with its best
// Σc² for each T, and the best machine-wide triple is a shortest path over (socket, threads placed
// so far) with lexicographic weights. Every optimal set is a path on which all steps are optimal,
// together with a Σc²-optimal filling of each socket (see `SocketFilling`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "affinity/problem.hpp"
#include "affinity/socket_filling.hpp"

namespace autofinity::affinity {

struct HintBits {
    bool spread_sockets;
    bool spread_llcs;
    bool socket_first;
};

class HintProblem final : public Problem {
  public:
    HintProblem(const Level& level, HintBits hint);

    void refresh(int socket, const Bounds& bounds) override;
    bool feasible() override;
    void witness(const Bounds& bounds, const std::vector<uint8_t>& preferred,
                 std::vector<int>& threads) override;
    int min_nodes() const override;

  private:
    // A number of threads that some best set gives to a socket.
    struct Option {
        int threads;
        size_t from;  // its row of `from_`
        Shape shape;
        bool allowed = true;  // within the present bounds
    };
    // Range of words of a row of `reach_` that can have bits.
    struct Span {
        int first;
        int last;
    };
    // Smallest and largest number of threads that can sit on the sockets before a socket.
    struct Placed {
        int least;
        int most;
    };

    template <typename Key>
    void solve();
    template <typename Key>
    std::vector<std::vector<Key>> weights() const;
    // Whether `option` is optimal when `placed` threads sit on the sockets before.
    bool optimal(const Option& option, int placed) const {
        return (from_[option.from + placed / 64] >> (placed % 64) & 1) != 0;
    }
    bool update_reach(int socket);
    bool reaches_end(int socket, int placed) const;

    const Level& level_;
    HintBits hint_;
    int words_;
    SocketFilling filling_;
    std::vector<std::vector<Option>> options_;
    std::vector<uint64_t> from_;   // rows of words: bit t for t threads on the sockets before
    std::vector<Span> span_;       // by socket, and one more
    std::vector<uint8_t> stale_;   // by socket: its row of `reach_` is not that of its options
    std::vector<uint64_t> reach_;  // (sockets + 1) × words: counts from which the end is reached
};

}  // namespace autofinity::affinity
