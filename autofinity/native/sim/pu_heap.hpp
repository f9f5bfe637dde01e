// PUs in order of when their next step is due: a binary heap of one word per PU, time << 10 | PU,
// so that PUs that are due together run in the order of their numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machine.hpp"

namespace autofinity::sim {

class PuHeap {
  public:
    static constexpr unsigned pu_bits = 10;
    static constexpr std::uint32_t most_pus = 1u << pu_bits;

    explicit PuHeap(std::size_t pus) : inside_(pus, false) {}

    bool empty() const { return heap_.empty(); }
    bool contains(std::uint32_t pu) const { return inside_[pu]; }
    std::uint32_t first() const { return pu_of(heap_[0]); }
    Ticks first_time() const { return heap_[0] >> pu_bits; }
    // When the second PU is due; `none` when there is no second.
    Ticks second_time(Ticks none) const {
        Ticks second = none;
        if (heap_.size() > 1) second = heap_[1] >> pu_bits;
        if (heap_.size() > 2) second = std::min(second, heap_[2] >> pu_bits);
        return second;
    }

    void clear() {
        heap_.clear();
        std::fill(inside_.begin(), inside_.end(), false);
    }
    void push(std::uint32_t pu, Ticks time) {
        heap_.push_back(time << pu_bits | pu);
        inside_[pu] = true;
        sift_up(heap_.size() - 1);
    }
    // A PU that was the first when its turn came, and may have been overtaken since.
    void remove(std::uint32_t pu) {
        inside_[pu] = false;
        const std::size_t i = find(pu);
        const std::uint64_t last = heap_.back();
        heap_.pop_back();
        if (i == heap_.size()) return;
        heap_[i] = last;
        sift_up(i);
        sift_down(i);
    }
    // The same: it is due at `time` instead.
    void delay(std::uint32_t pu, Ticks time) {
        const std::size_t i = find(pu);
        heap_[i] = time << pu_bits | pu;
        sift_down(i);
    }
    // A PU that is not the first is due earlier than it was, but never before the first one.
    void advance(std::uint32_t pu, Ticks time) {
        for (std::size_t i = 1; i < heap_.size(); ++i)
            if (pu_of(heap_[i]) == pu) {
                heap_[i] = std::max(time, first_time()) << pu_bits | pu;
                sift_up(i);
                return;
            }
    }

  private:
    static std::uint32_t pu_of(std::uint64_t entry) {
        return static_cast<std::uint32_t>(entry & (most_pus - 1));
    }
    std::size_t find(std::uint32_t pu) const {
        std::size_t i = 0;
        while (pu_of(heap_[i]) != pu) ++i;
        return i;
    }
    void sift_up(std::size_t i) {
        const std::uint64_t entry = heap_[i];
        for (; i > 0 && heap_[(i - 1) / 2] > entry; i = (i - 1) / 2) heap_[i] = heap_[(i - 1) / 2];
        heap_[i] = entry;
    }
    void sift_down(std::size_t i) {
        const std::uint64_t entry = heap_[i];
        const std::size_t size = heap_.size();
        for (;;) {
            std::size_t child = 2 * i + 1;
            if (child >= size) break;
            if (child + 1 < size && heap_[child + 1] < heap_[child]) ++child;
            if (heap_[child] >= entry) break;
            heap_[i] = heap_[child];
            i = child;
        }
        heap_[i] = entry;
    }

    std::vector<std::uint64_t> heap_;
    std::vector<bool> inside_;
};

}  // namespace autofinity::sim
