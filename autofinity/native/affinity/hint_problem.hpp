// All core sets that match a hint best: the definition's three keys as a shortest path.
//
// The keys are, in the order P gives: sockets used (more first if S), Σc² over domains (smaller
// first if L), then Σ(threads per socket)² (smaller first if S). All three are sums over sockets,
// and two of them depend only on a socket's number of threads T, so a socket enters with its best
// Σc² for each T, and the best machine-wide triple is a shortest path over (socket, threads placed
// so far) with lexicographic weights. Every optimal set is a path on which all steps are optimal,
// together with a Σc²-optimal filling of each socket; both kinds of filling are known in closed
// form (see `fits`).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "affinity/problem.hpp"

namespace autofinity::affinity {

// No domain is so large: the level of a filling that has no full domain.
inline constexpr int kNone = std::numeric_limits<int>::max();

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
    // Shape of the Σc²-best filling of a socket with T threads.
    //   spread:      domains of capacity ≤ level are full, the others hold level or level + 1,
    //                `extra` of them the latter;
    //   concentrate: domains of capacity > level are full, `full` of those of capacity `level`
    //                are, one other (that can) holds `extra`, the rest nothing.
    struct Shape {
        int level;
        int extra;
        int full;
    };
    // One number of threads that some best set gives to a socket.
    struct Option {
        int threads;
        size_t from;  // its row of `from_`
        Shape shape;
        bool allowed = true;  // within the present bounds
    };
    // Words of a row of `reach_` that can have bits.
    struct Span {
        int first;
        int last;
    };
    // Smallest and largest number of threads that can sit on the sockets before one.
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
    Shape shape(int socket, int threads) const;
    int64_t squares(int socket, int threads) const;
    bool fits(int socket, const Shape& shape, const Bounds& bounds) const;
    bool fits_concentrated(int socket, const Shape& shape, const Bounds& bounds) const;
    void fill(int socket, const Shape& shape, const Bounds& bounds,
              const std::vector<uint8_t>& preferred, std::vector<int>& threads);
    void fill_concentrated(int socket, const Shape& shape, const Bounds& bounds,
                           std::vector<int>& threads);
    bool update_reach(int socket);
    bool reaches_end(int socket, int placed) const;

    const Level& level_;
    HintBits hint_;
    int words_;
    std::vector<std::vector<int>> capacities_;  // by socket, descending
    std::vector<std::vector<Option>> options_;
    std::vector<uint64_t> from_;   // rows of words: bit t for t threads on the sockets before
    std::vector<Span> span_;       // by socket, and one more
    std::vector<uint8_t> stale_;   // by socket: its row of `reach_` is not that of its options
    std::vector<int> order_;       // scratch of `fill`
    std::vector<uint8_t> full_;    // scratch of `fill_concentrated`
    std::vector<uint64_t> reach_;  // (sockets + 1) × words: counts from which the end is reached
};

}  // namespace autofinity::affinity
