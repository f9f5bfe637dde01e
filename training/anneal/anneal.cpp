// anneal: places the elements of a netlist on a chip by simulated annealing.
//
// usage: anneal THREADS ELEMENTS STEPS MOVES
//
// Each step takes MOVES random pairs of elements, shared out among the threads, and swaps the two
// locations if the wires get shorter, or with the probability of Metropolis et al. (1953) if not;
// the temperature falls after each step. Every move reads the locations of a dozen neighbours all
// over one large shared array: random access that no cache holds. Locations are atomics that others
// may change meanwhile (the decision may be stale, which annealing tolerates). A swap takes both
// locations out by compare-and-swap before it puts them back the other way round, so that none is
// lost; a move whose elements have been moved meanwhile is given up.
// Check: the locations are still a permutation; the wires (on a large chip those of a sample of the
// elements) are shorter than at the start by a tenth, or in proportion if there were few moves;
// with one thread all wires are measured, and equal the start plus every change booked.
#include <pthread.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"
#include "training_threads.h"

namespace {

constexpr int kWires = 6;
constexpr uint32_t kTaken = 0xFFFFFFFFu;  // the location of an element that is being moved

struct alignas(64) Element {
    std::atomic<uint32_t> location;
    uint32_t wire[kWires];  // the elements at the other ends
};

struct Annealing {
    int threads;
    uint32_t elements, width;
    long steps, moves;
    Element* element;
    pthread_barrier_t barrier;
    std::atomic<int64_t> change;
    std::atomic<long> swaps;
};

// Wires join elements that are near in a hidden mesh and far apart in memory; if e is wired to f,
// f is wired to e.
uint32_t wire_end(uint32_t elements, uint32_t from, int wire) {
    constexpr uint64_t kStep[kWires / 2] = {1664525, 1664525u * 37ull, 1664525u * 1409ull};
    const uint64_t step = kStep[wire / 2] % elements;
    return static_cast<uint32_t>((from + (wire % 2 ? elements - step : step)) % elements);
}

// Every thread makes a part of the elements.
void make_elements(Annealing& a, int thread) {
    const auto end = static_cast<uint32_t>(share_begin(a.elements, thread + 1, a.threads));
    auto e = static_cast<uint32_t>(share_begin(a.elements, thread, a.threads));
    for (; e < end; ++e) {
        new (&a.element[e].location) std::atomic<uint32_t>(e);
        for (int w = 0; w < kWires; ++w) a.element[e].wire[w] = wire_end(a.elements, e, w);
    }
}

int64_t gap(const Annealing& a, uint32_t p, uint32_t q) {
    const int32_t x = static_cast<int32_t>(p % a.width) - static_cast<int32_t>(q % a.width);
    const int32_t y = static_cast<int32_t>(p / a.width) - static_cast<int32_t>(q / a.width);
    return std::abs(x) + std::abs(y);
}

uint32_t location_of(const Annealing& a, uint32_t e) {
    return a.element[e].location.load(std::memory_order_relaxed);
}

// How much longer the wires of `e` get if it moves from `here` to `there`. Wires to `partner`,
// which takes the place left, keep their length.
int64_t change_of_move(const Annealing& a, uint32_t e, uint32_t partner, uint32_t here,
                       uint32_t there) {
    int64_t change = 0;
    for (const uint32_t other : a.element[e].wire) {
        if (other == partner) continue;
        const uint32_t at = location_of(a, other);
        if (at == kTaken) continue;
        change += gap(a, at, there) - gap(a, at, here);
    }
    return change;
}

// False if another thread has moved one of the two since their locations were read.
bool swap_locations(Annealing& a, uint32_t e, uint32_t f, uint32_t at_e, uint32_t at_f) {
    std::atomic<uint32_t>& first = a.element[e].location;
    std::atomic<uint32_t>& second = a.element[f].location;
    uint32_t seen = at_e;
    if (!first.compare_exchange_strong(seen, kTaken, std::memory_order_relaxed)) return false;
    seen = at_f;
    if (!second.compare_exchange_strong(seen, kTaken, std::memory_order_relaxed)) {
        first.store(at_e, std::memory_order_relaxed);
        return false;
    }
    second.store(at_e, std::memory_order_relaxed);
    first.store(at_f, std::memory_order_relaxed);
    return true;
}

void anneal(Annealing& a, int thread) {
    double temperature = a.width / 16.0;
    int64_t change = 0;
    long swaps = 0;
    for (long step = 0; step < a.steps; ++step) {
        const long end = share_begin(a.moves, thread + 1, a.threads);
        for (long m = share_begin(a.moves, thread, a.threads); m < end; ++m) {
            const uint64_t draw = static_cast<uint64_t>(step * a.moves + m);
            const uint32_t e = rng_below(2, draw, a.elements);
            const uint32_t f = rng_below(3, draw, a.elements);
            if (e == f) continue;
            const uint32_t at_e = location_of(a, e), at_f = location_of(a, f);
            if (at_e == kTaken || at_f == kTaken) continue;
            const int64_t longer =
                change_of_move(a, e, f, at_e, at_f) + change_of_move(a, f, e, at_f, at_e);
            if (longer > 0 &&
                rng_unit(4, draw) >= std::exp(-static_cast<double>(longer) / temperature))
                continue;
            if (!swap_locations(a, e, f, at_e, at_f)) continue;
            change += longer;
            ++swaps;
        }
        temperature *= 0.7;
        pthread_barrier_wait(&a.barrier);
        if (thread == 0) heartbeat();
    }
    a.change.fetch_add(change);
    a.swaps.fetch_add(swaps);
}

void work(int thread, void* shared) {
    Annealing& a = *static_cast<Annealing*>(shared);
    make_elements(a, thread);
    begin_roi_together(thread, &a.barrier);
    anneal(a, thread);
}

// Length of the wires of every `stride`-th element. With stride 1 every wire counts once from each
// end, so that changes are twice the changes that moves book.
int64_t wire_length(const Annealing& a, bool at_start, uint32_t stride) {
    int64_t sum = 0;
    for (uint32_t e = 0; e < a.elements; e += stride) {
        for (const uint32_t f : a.element[e].wire) {
            sum += at_start ? gap(a, e, f) : gap(a, location_of(a, e), location_of(a, f));
        }
    }
    return sum;
}

bool is_permutation(const Annealing& a) {
    std::vector<bool> taken(a.elements);
    for (uint32_t e = 0; e < a.elements; ++e) {
        const uint32_t at = location_of(a, e);
        if (at >= a.elements || taken[at]) return false;
        taken[at] = true;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    static Annealing a = {};
    a.threads = static_cast<int>(arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS));
    a.elements = static_cast<uint32_t>(arg_long(argc, argv, 2, "ELEMENTS", 64, 1 << 28));
    a.steps = arg_long(argc, argv, 3, "STEPS", 1, 1000000);
    a.moves = arg_long(argc, argv, 4, "MOVES", 1, 1000000000);
    a.width = static_cast<uint32_t>(std::ceil(std::sqrt(static_cast<double>(a.elements))));
    a.element = static_cast<Element*>(pages_for(sizeof(Element) * a.elements));
    pthread_barrier_init(&a.barrier, nullptr, static_cast<unsigned>(a.threads));

    run_threads(a.threads, work, &a);
    roi_end();

    // Measuring all wires takes longer than the annealing; one thread is worth it, for more a
    // sample, of a chip that is large enough for its mean not to scatter.
    const uint32_t stride = a.threads == 1 || a.elements <= 1 << 16 ? 1 : 16;
    const int64_t before = wire_length(a, true, stride), after = wire_length(a, false, stride);
    const double moved = static_cast<double>(a.moves) * static_cast<double>(a.steps) / a.elements;
    const double least_gain = 0.1 * std::fmin(1.0, moved) * static_cast<double>(before);
    const bool shorter = static_cast<double>(before - after) > least_gain;
    const bool booked = after == before + 2 * a.change.load();
    if (!is_permutation(a) || !shorter || (a.threads == 1 && !booked)) {
        std::printf("wrong: wires %lld before, %lld after, booked change %lld, permutation %d\n",
                    static_cast<long long>(before / 2 * stride),
                    static_cast<long long>(after / 2 * stride),
                    static_cast<long long>(a.change.load()), is_permutation(a));
        return 1;
    }
    std::printf("ok wires %lld of %lld swaps %ld\n", static_cast<long long>(after / 2 * stride),
                static_cast<long long>(before / 2 * stride), a.swaps.load());
    return 0;
}
