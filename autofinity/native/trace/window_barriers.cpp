#include "trace/window_barriers.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_map>
#include <utility>

namespace autofinity::trace {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

// An event for which others wait, or that waits for others. `number`: of its token or barrier.
struct Point {
    std::size_t event;
    Kind kind;
    std::uint32_t number;
};

// A barrier object for so many threads: a team of another size has another barrier.
struct Barrier {
    std::uint64_t object;
    std::uint16_t participants;
    bool noted_before = true;             // arrivals are noted before the thread waits
    std::vector<std::uint32_t> arrivals;  // of each stream
    std::vector<bool> first, last;        // whether the stream begins or ends with an arrival
};

// Order between the events of streams.
struct Order {
    std::vector<std::vector<Point>> points;  // of each stream
    std::vector<Barrier> barriers;
    std::uint32_t tokens = 0;
};

Order order_of(const Trace& window) {
    Order order;
    std::unordered_map<std::uint64_t, std::uint32_t> tokens;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> barriers;  // of an object
    const auto barrier_of = [&](const Event& event) {
        auto& numbers = barriers[event.value];
        for (const std::uint32_t number : numbers)
            if (order.barriers[number].participants == event.aux) return number;
        numbers.push_back(static_cast<std::uint32_t>(order.barriers.size()));
        const std::size_t n = window.streams.size();
        order.barriers.push_back({event.value, event.aux, true, std::vector<std::uint32_t>(n),
                                  std::vector<bool>(n), std::vector<bool>(n)});
        return numbers.back();
    };
    for (std::uint32_t s = 0; s < window.streams.size(); ++s) {
        const std::vector<Event>& events = window.streams[s].events;
        std::vector<Point>& points = order.points.emplace_back();
        for (std::size_t i = 0; i < events.size(); ++i) {
            const Event& event = events[i];
            if (event.kind == Kind::post || event.kind == Kind::await) {
                const auto at = tokens.try_emplace(event.value, order.tokens);
                if (at.second) ++order.tokens;
                points.push_back({i, event.kind, at.first->second});
            } else if (event.kind == Kind::barrier) {
                const std::uint32_t number = barrier_of(event);
                Barrier& barrier = order.barriers[number];
                ++barrier.arrivals[s];
                barrier.noted_before &= i != 0 && events[i - 1].kind == Kind::access &&
                                        (events[i - 1].flags & flag_atomic) != 0;
                if (i == 0) barrier.first[s] = true;
                if (i + 1 == events.size()) barrier.last[s] = true;
                points.push_back({i, Kind::barrier, number});
            }
        }
    }
    return order;
}

// For each stream, the barrier at which it had arrived when the window began, or none.
using Early = std::vector<std::uint32_t>;

Early early_of(const Order& order, const Trace& window) {
    Early early(order.points.size(), none);
    for (std::uint32_t number = 0; number < order.barriers.size(); ++number) {
        const Barrier& barrier = order.barriers[number];
        const auto passed = [&](std::size_t s) {
            return barrier.arrivals[s] - (barrier.noted_before && barrier.last[s] ? 1 : 0);
        };
        std::uint32_t most = 0;
        for (std::size_t s = 0; s < early.size(); ++s)
            if (barrier.arrivals[s] != 0) most = std::max(most, passed(s));
        bool plausible = true;
        for (std::size_t s = 0; s < early.size(); ++s)
            if (!barrier.noted_before && barrier.arrivals[s] == most) plausible &= barrier.first[s];
        if (!plausible) continue;
        for (std::size_t s = 0; s < early.size(); ++s) {
            if (barrier.arrivals[s] == 0 || passed(s) == most) continue;
            const auto& points = order.points[s];
            const auto first = std::find_if(points.begin(), points.end(), [](const Point& point) {
                return point.kind == Kind::barrier;
            });
            // The stream waited at one barrier only, and had arrived there.
            if (first->number == number &&
                window.streams[s].events.front().kind != Kind::thread_begin)
                early[s] = number;
        }
    }
    return early;
}

// An arrival of a stream, and its treatment.
struct Arrival {
    std::size_t event;  // none: an early one
    std::uint32_t barrier;
    std::uint32_t generation;        // among all generations of barriers
    std::uint16_t participants = 0;  // 0: it waits for no other
};

struct Outcome {
    std::vector<std::vector<Arrival>> arrivals;              // of each stream
    std::vector<std::pair<std::uint32_t, std::size_t>> cut;  // awaits without an end in the window
    std::vector<bool> split;    // for each barrier: whether its generations are separate barriers
    std::uint64_t missing = 0;  // arrivals for which no thread is to wait
};

// Runs all streams on to their ends.
class Untimed {
  public:
    Untimed(const Order& order, const Trace& window, const Early& early)
        : order_(order),
          window_(window),
          early_(early),
          places_(order.points.size(), 0),
          posted_(order.tokens),
          waiters_(order.tokens),
          at_(order.barriers.size()) {
        outcome_.arrivals.resize(places_.size());
        outcome_.split.resize(at_.size());
        std::unordered_map<std::uint64_t, std::uint32_t> first_of;
        for (std::uint32_t number = 0; number < at_.size(); ++number) {
            const Barrier& barrier = order_.barriers[number];
            at_[number].left = barrier.arrivals;
            for (std::uint32_t s = 0; s < early.size(); ++s)
                if (early[s] == number) ++at_[number].left[s];
            for (const std::uint32_t left : at_[number].left) at_[number].coming += left != 0;
            // It is unknown which arrivals belong together where more come than the barrier's size,
            // or several sizes.
            const auto [other, added] = first_of.try_emplace(barrier.object, number);
            if (!added) outcome_.split[number] = outcome_.split[other->second] = true;
            if (at_[number].coming > barrier.participants) outcome_.split[number] = true;
        }
    }

    Outcome run() {
        for (std::uint32_t s = 0; s < places_.size(); ++s)
            if (early_[s] == none)
                ready_.push_back(s);
            else
                arrive(s, early_[s], std::numeric_limits<std::size_t>::max());
        for (;;) {
            while (!ready_.empty()) {
                const std::uint32_t s = ready_.front();
                ready_.pop_front();
                go_on(s);
            }
            if (!let_some_go()) return std::move(outcome_);
        }
    }

  private:
    struct State {
        std::vector<std::uint32_t> left;     // future arrivals of each stream
        std::uint32_t coming = 0;            // number of streams with future arrivals
        std::vector<std::uint32_t> waiting;  // streams
    };

    void go_on(std::uint32_t s) {
        const auto& points = order_.points[s];
        while (places_[s] < points.size()) {
            const Point& point = points[places_[s]++];
            if (point.kind == Kind::post) {
                posted_[point.number] = true;
                for (const std::uint32_t other : std::exchange(waiters_[point.number], {}))
                    ready_.push_back(other);
            } else if (point.kind == Kind::await) {
                if (posted_[point.number]) continue;
                return waiters_[point.number].push_back(s);
            } else {
                return arrive(s, point.number, point.event);
            }
        }
    }

    void arrive(std::uint32_t s, std::uint32_t number, std::size_t event) {
        State& at = at_[number];
        outcome_.arrivals[s].push_back({event, number, 0});
        if (--at.left[s] == 0) --at.coming;
        at.waiting.push_back(s);
        std::uint32_t others = at.coming;
        for (const std::uint32_t each : at.waiting) others -= at.left[each] != 0;
        if (others == 0 || at.waiting.size() == order_.barriers[number].participants)
            release(number);
    }

    // Whether events of the stream follow those taken.
    bool has_more(std::uint32_t s) const {
        const std::size_t event = outcome_.arrivals[s].back().event;
        return event == std::numeric_limits<std::size_t>::max() ||
               event + 1 < window_.streams[s].events.size();
    }

    void release(std::uint32_t number) {
        State& at = at_[number];
        const auto here = static_cast<std::uint16_t>(at.waiting.size());
        const std::uint16_t wanted = order_.barriers[number].participants;
        const bool passed =
            here == wanted || std::any_of(at.waiting.begin(), at.waiting.end(),
                                          [&](std::uint32_t s) { return has_more(s); });
        if (passed && here < wanted) outcome_.missing += wanted - here;
        for (const std::uint32_t s : at.waiting) {
            outcome_.arrivals[s].back().generation = generation_;
            outcome_.arrivals[s].back().participants = passed ? here : 0;
            ready_.push_back(s);
        }
        at.waiting.clear();
        ++generation_;
    }

    // All streams that are not at their ends wait: lets some go on. Returns whether there are any.
    bool let_some_go() {
        std::uint32_t best = none, fewest = none;
        for (std::uint32_t number = 0; number < at_.size(); ++number) {
            if (at_[number].waiting.empty()) continue;
            const auto lacks = static_cast<std::uint32_t>(order_.barriers[number].participants -
                                                          at_[number].waiting.size());
            if (lacks < fewest) {
                fewest = lacks;
                best = number;
            }
        }
        if (best != none) {
            outcome_.split[best] = true;
            release(best);
            return true;
        }
        for (auto& waiters : waiters_) {
            if (waiters.empty()) continue;
            for (const std::uint32_t s : std::exchange(waiters, {})) {
                outcome_.cut.emplace_back(s, order_.points[s][places_[s] - 1].event);
                ready_.push_back(s);
            }
            return true;
        }
        return false;
    }

    const Order& order_;
    const Trace& window_;
    const Early& early_;
    std::vector<std::size_t> places_;  // of each stream among its points
    std::vector<bool> posted_;
    std::vector<std::vector<std::uint32_t>> waiters_;  // of each token
    std::vector<State> at_;                            // of each barrier
    std::deque<std::uint32_t> ready_;
    std::uint32_t generation_ = 0;
    Outcome outcome_;
};

void apply(const Order& order, const Outcome& outcome, Trace& window) {
    // Objects with numbers that no capture uses.
    const auto object_of = [&](const Arrival& arrival) {
        return outcome.split[arrival.barrier] ? ~std::uint64_t{arrival.generation}
                                              : order.barriers[arrival.barrier].object;
    };
    const auto compute = [](Event& event) {
        event = Event{0, event.gap, 0, 0, 0, 0, Kind::compute, 0, 0};
    };
    for (const auto& [s, event] : outcome.cut) compute(window.streams[s].events[event]);
    for (std::size_t s = 0; s < outcome.arrivals.size(); ++s) {
        auto& events = window.streams[s].events;
        const Arrival* early = nullptr;
        for (const Arrival& arrival : outcome.arrivals[s]) {
            if (arrival.event == std::numeric_limits<std::size_t>::max()) {
                early = &arrival;
            } else if (arrival.participants == 0) {
                compute(events[arrival.event]);
            } else {
                events[arrival.event].value = object_of(arrival);
                events[arrival.event].aux = arrival.participants;
            }
        }
        if (early != nullptr && early->participants != 0)
            events.insert(events.begin(), Event{object_of(*early), 0, 0, early->participants, 0, 0,
                                                Kind::barrier, 0, 0});
    }
}

}  // namespace

void mend_barriers(Trace& window) {
    const Order order = order_of(window);
    const Early nobody(order.points.size(), none);
    const Early early = early_of(order, window);
    Outcome best = Untimed(order, window, nobody).run();
    if (early != nobody) {
        Outcome other = Untimed(order, window, early).run();
        if (other.missing < best.missing) best = std::move(other);
    }
    apply(order, best, window);
}

}  // namespace autofinity::trace
