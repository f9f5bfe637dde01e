// Stream prefetcher of one core: lines to fetch ahead, and those that are on their way.
#pragma once

#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "sets.hpp"
#include "sim/machine.hpp"
#include "sim/program/program.hpp"

namespace autofinity::sim {

class Prefetcher {
  public:
    explicit Prefetcher(const PrefetchShape& shape)
        : shape_(shape),
          padded_((shape.streams + 3) / 4 * 4),
          order_(padded_),
          streams_(shape.streams),
          due_(shape.in_flight, 0) {
        std::iota(order_.data(), order_.data() + shape.streams, Word{0});
    }

    bool present() const { return !streams_.empty(); }

    // Learns of an L1 miss at `now`; calls `fetch(line)` for each line that its stream requests, as
    // long as not too many are on their way.
    template <typename Fetch>
    void train(Line line, Ticks now, Fetch&& fetch) {
        const auto [known, s] = stream_of(line >> page_shift);
        if (known)
            go_on(s, line, now, fetch);
        else
            begin(s, line);
    }

    // The line that a miss of `line` may fetch, if its page has a stream; 0: none. A stream without
    // a direction yet is assumed to go up.
    Line would_fetch(Line line) {
        const int place = place_of(line >> page_shift);
        if (place < 0) return 0;
        const Stream& s = streams_[order_[place] & number_mask];
        const Line ahead = s.direction < 0 ? line - shape_.distance : line + shape_.distance;
        return ahead >> page_shift == line >> page_shift ? ahead : 0;
    }

    // A prefetched line arrives at `ready`. A colliding line replaces an older one, which then
    // counts as never used and already present.
    void sent(Line line, Ticks ready) {
        arrivals_[place(line)] = {line, ready};
        due_[free_] = ready;
    }
    // Time when the line was or is due if it was prefetched and not requested since; else 0.
    Ticks take(Line line) {
        Arrival& arrival = arrivals_[place(line)];
        if (arrival.line != line) return 0;
        arrival.line = 0;
        return arrival.ready;
    }

  private:
    struct Stream {
        std::int32_t last = 0;       // line of the page that missed last
        std::int32_t sent = 0;       // the furthest line fetched
        std::int32_t direction = 0;  // 0: one miss so far
        std::uint32_t misses = 0;    // in a row in this direction
    };
    struct Arrival {
        Line line = 0;
        Ticks ready = 0;
    };

    static std::int32_t offset_of(Line line) {
        return static_cast<std::int32_t>(line & (lines_per_page - 1));
    }
    static void begin(Stream& s, Line line) { s = {offset_of(line), offset_of(line), 0, 1}; }

    template <typename Fetch>
    [[gnu::always_inline]] inline void go_on(Stream& s, Line line, Ticks now, Fetch&& fetch) {
        const std::uint32_t page = line >> page_shift;
        const std::int32_t offset = offset_of(line);
        if (offset == s.last) return;
        const std::int32_t direction = offset > s.last ? 1 : -1;
        s.last = offset;
        if (direction != s.direction) {
            // The second miss gives the direction, a later one turns it.
            s.misses = s.direction == 0 ? 2 : 1;
            s.direction = direction;
            s.sent = offset;
        } else {
            ++s.misses;
        }
        if (s.misses < shape_.trigger) {
            s.sent = offset;
            return;
        }
        const auto reach = static_cast<std::int32_t>(shape_.distance);
        std::int32_t next = ahead(s.sent, offset, direction) ? s.sent : offset;
        for (std::uint32_t i = 0; i < shape_.degree; ++i) {
            next += direction;
            if (next < 0 || next >= static_cast<std::int32_t>(lines_per_page) ||
                (next - offset) * direction > reach)
                break;
            if (!free_by(now)) break;
            s.sent = next;
            fetch(page << page_shift | static_cast<Line>(next));
        }
    }

    static bool ahead(std::int32_t a, std::int32_t b, std::int32_t direction) {
        return (a - b) * direction > 0;
    }
    static std::size_t place(Line line) {
        return (line ^ line >> page_shift) * 0x9E3779B1u >> 24;  // 8 bits
    }
    // Whether one of the buffers for lines in flight is free; `free_` is it.
    bool free_by(Ticks now) {
        for (std::size_t i = 0; i < due_.size(); ++i) {
            free_ = free_ + 1 < due_.size() ? free_ + 1 : 0;
            if (due_[free_] <= now) return true;
        }
        return false;
    }
    // A stream in the order: the page that it follows and its own number.
    static constexpr Word number_bits = 10, number_mask = (1u << number_bits) - 1;
    static_assert(max_lines >> page_shift <= 1u << (32 - number_bits));

    // Position of the page's stream in the order; -1: it has none.
    [[gnu::always_inline]] int place_of(std::uint32_t page) const {
        return find_way<number_bits>(order_.data(), padded_, page);
    }
    // The stream of the page, or the least recent stream, restarted; it becomes the most recent
    // one.
    [[gnu::always_inline]] std::pair<bool, Stream&> stream_of(std::uint32_t page) {
        const int way = place_of(page);
        const int place = way >= 0 ? way : static_cast<int>(streams_.size()) - 1;
        const Word number = order_[place] & number_mask;
        to_front(order_.data(), padded_, place, page << number_bits | number);
        return {way >= 0, streams_[number]};
    }

    PrefetchShape shape_;
    std::uint32_t padded_;
    Zeroed<Word> order_;  // of the streams, the most recent one first; ways of a set
    std::vector<Stream> streams_;
    std::array<Arrival, 256> arrivals_{};
    std::vector<Ticks> due_;  // of the lines in flight
    std::size_t free_ = 0;
};

}  // namespace autofinity::sim
