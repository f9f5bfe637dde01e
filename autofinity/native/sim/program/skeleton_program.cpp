#include "skeleton_program.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

using trace::Event;
using trace::Kind;

// An instruction that misses everything on a busy machine takes some ten thousand times as long as
// an instruction without waits.
constexpr double most_price = 1e6;

void check(const trace::Trace& skeleton, const InstructionPrices& prices) {
    const std::size_t intervals = prices.units.size();
    if (prices.streams != skeleton.streams.size() ||
        prices.own.size() != intervals * prices.streams || intervals == 0 ||
        prices.interval_work == 0)
        throw SimulationError("got prices of " + std::to_string(intervals) + " intervals and " +
                              std::to_string(prices.streams) + " streams; the skeleton has " +
                              std::to_string(skeleton.streams.size()) + " streams");
    const auto right = [](double price) { return price >= 0 && price <= most_price; };
    if (!std::ranges::all_of(prices.own, right) || !std::ranges::all_of(prices.units, right))
        throw SimulationError("got a price of an instruction that is not from 0 to a million");
}

bool is_mark(const Event& event) { return event.kind == Kind::compute && event.value != 0; }

// Place of an event of a stream: the interval of the work, as the next mark says (the last
// interval, where no mark follows), the barriers around it, and whether it lies within a work unit.
struct Place {
    std::size_t interval = 0;
    std::uint32_t span = 0;  // 0: no barrier follows
    bool unit = false;
};

// Spans from barrier to barrier: the work of all streams there, by interval.
//
// Streams that are captured on few processors run ahead of each other, so their work at the same
// time of a replay lies in different intervals. If each had the rate of its own interval, streams
// would wait for others at the barrier for this reason alone.
class Spans {
  public:
    std::uint32_t ending_at(std::uint64_t barrier, std::uint64_t generation) {
        const auto [at, added] = number_.try_emplace({barrier, generation}, number_.size() + 1);
        if (added) done_.emplace_back();
        return at->second;
    }
    void add(const Place& place, std::uint32_t gap) {
        auto& done = done_[place.span - 1];
        if (done.empty() || done.back().first != place.interval)
            done.emplace_back(place.interval, 0.0);
        done.back().second += gap;
    }
    // Mean price of an instruction there.
    double price(std::uint32_t span, std::size_t stream, const InstructionPrices& prices) const {
        double sum = 0, instructions = 0;
        for (const auto& [interval, done] : done_[span - 1]) {
            sum += done * prices.own[interval * prices.streams + stream];
            instructions += done;
        }
        return instructions > 0 ? sum / instructions : 1;
    }

  private:
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> number_;
    std::vector<std::vector<std::pair<std::size_t, double>>> done_;
};

std::vector<Place> places_of(const std::vector<Event>& events, const InstructionPrices& prices,
                             Spans& spans) {
    std::vector<Place> places(events.size());
    std::unordered_map<std::uint64_t, std::uint64_t> generation;
    unsigned depth = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        places[i].unit = depth > 0;  // its gap, before it takes place
        if (events[i].kind == Kind::unit_begin) ++depth;
        if (events[i].kind == Kind::unit_end && depth > 0) --depth;
        if (events[i].kind == Kind::barrier)
            places[i].span = spans.ending_at(events[i].value, generation[events[i].value]++);
    }
    const auto interval_of = [&](const Event& mark) {
        return std::min<std::size_t>(mark.value / prices.interval_work, prices.units.size() - 1);
    };
    const auto last_mark = std::find_if(events.rbegin(), events.rend(), is_mark);
    std::size_t interval = last_mark == events.rend() ? 0 : interval_of(*last_mark);
    std::uint32_t span = 0;
    for (std::size_t i = events.size(); i-- > 0;) {
        if (is_mark(events[i])) interval = interval_of(events[i]);
        if (events[i].kind == Kind::barrier) span = places[i].span;
        places[i] = {interval, span, places[i].unit};
    }
    return places;
}

// Gives the events of a stream their prices, first to last.
class Pricing {
  public:
    Pricing(const InstructionPrices& prices, const Spans& spans, std::size_t stream)
        : prices_(prices), spans_(spans), stream_(stream) {}

    std::vector<Event> priced(const std::vector<Event>& events, const std::vector<Place>& places) {
        std::vector<Event> result;
        result.reserve(events.size());
        for (std::size_t i = 0; i < events.size(); ++i) add(result, events[i], places[i]);
        return result;
    }

  private:
    double price(const Place& place) {
        if (place.unit) return prices_.units[place.interval];
        if (place.span == 0) return prices_.own[place.interval * prices_.streams + stream_];
        if (std::exchange(span_, place.span) != place.span)
            span_price_ = spans_.price(place.span, stream_, prices_);
        return span_price_;
    }
    // A mark is an event of the skeleton only; its gap is added to the next event.
    void add(std::vector<Event>& to, Event event, const Place& place) {
        due_ += event.gap * price(place);
        if (is_mark(event)) return;
        constexpr double most = std::numeric_limits<std::uint32_t>::max();
        for (; due_ >= most; due_ -= most) {
            Event before{};
            before.kind = Kind::compute;
            before.gap = std::numeric_limits<std::uint32_t>::max();
            to.push_back(before);
        }
        event.gap = static_cast<std::uint32_t>(due_);
        due_ -= event.gap;
        to.push_back(event);
    }

    const InstructionPrices& prices_;
    const Spans& spans_;
    std::size_t stream_;
    std::uint32_t span_ = 0;
    double span_price_ = 1;
    double due_ = 0;  // of instructions before the next event
};

}  // namespace

Program skeleton_program(const trace::Trace& skeleton, const InstructionPrices& prices) {
    check(skeleton, prices);
    Spans spans;
    std::vector<std::vector<Place>> places;
    for (const trace::Stream& stream : skeleton.streams) {
        const auto& of = places.emplace_back(places_of(stream.events, prices, spans));
        for (std::size_t i = 0; i < of.size(); ++i)
            if (of[i].span != 0 && !of[i].unit) spans.add(of[i], stream.events[i].gap);
    }
    trace::Trace timed;
    for (std::size_t s = 0; s < skeleton.streams.size(); ++s) {
        const trace::Stream& stream = skeleton.streams[s];
        timed.streams.push_back({stream.parent,
                                 Pricing(prices, spans, s).priced(stream.events, places[s]),
                                 stream.totals});
    }
    return Program(std::move(timed));
}

}  // namespace autofinity::sim
