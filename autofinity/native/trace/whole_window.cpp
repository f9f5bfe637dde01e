#include "trace/whole_window.hpp"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "trace/window_barriers.hpp"

namespace autofinity::trace {
namespace {

using Values = std::unordered_set<std::uint64_t>;

void become_compute(Event& event) { event = Event{0, event.gap, 0, 0, 0, 0, Kind::compute, 0, 0}; }

Event mark(Kind kind, std::uint64_t value, std::uint16_t aux = 0) {
    return Event{value, 0, 0, aux, 0, 0, kind, 0, 0};
}

// Repairs of a stream besides its events: first and last events that the cut removed.
struct Added {
    std::vector<Event> first, last;
};

// One stream, read from its beginning.
class StreamMender {
  public:
    StreamMender(std::vector<Event>& events, const Values& posted)
        : events_(events), posted_(posted) {}

    Added mend() {
        for (std::size_t i = 0; i < events_.size(); ++i) look_at(i);
        Added added;
        for (const std::uint64_t object : unlocked_)
            added.first.push_back(mark(Kind::lock, object));
        for (auto open = open_.rbegin(); open != open_.rend(); ++open)
            added.last.push_back(
                mark(events_[*open].kind == Kind::lock ? Kind::unlock : Kind::unit_end,
                     events_[*open].value));
        return added;
    }

  private:
    void look_at(std::size_t at) {
        Event& event = events_[at];
        switch (event.kind) {
            case Kind::await:
                if (!posted_.contains(event.value)) become_compute(event);
                return;
            case Kind::roi_begin:
            case Kind::roi_end:
                return become_compute(event);
            case Kind::lock:
                return open_.push_back(at);
            case Kind::unlock:
                if (!close(Kind::lock, event.value)) unlocked_.push_back(event.value);
                return;
            case Kind::unit_begin:
                return begin_unit(at);
            case Kind::unit_end:
                return end_unit(at);
            default:
                return;
        }
    }
    void begin_unit(std::size_t at) {
        Event& event = events_[at];
        if (is_open(event) || (event.aux == 1 && !is_created_after(at)))
            become_compute(event);
        else
            open_.push_back(at);
    }
    // Units nest: a unit that began within this one and did not end is dropped.
    void end_unit(std::size_t at) {
        if (!is_open(events_[at])) return become_compute(events_[at]);
        for (std::size_t i = open_.size(); i-- > 0;) {
            Event& begun = events_[open_[i]];
            if (begun.kind != Kind::unit_begin) continue;
            const bool found = begun.value == events_[at].value;
            if (!found) become_compute(begun);
            open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
            if (found) return;
        }
    }
    // Whether the task's first event awaits a creation that the window has.
    bool is_created_after(std::size_t at) const {
        return at + 1 < events_.size() && events_[at + 1].kind == Kind::await &&
               posted_.contains(events_[at + 1].value);
    }
    bool is_open(const Event& unit) const {
        for (const std::size_t at : open_)
            if (events_[at].kind == Kind::unit_begin && events_[at].value == unit.value)
                return true;
        return false;
    }
    bool close(Kind kind, std::uint64_t value) {
        for (std::size_t i = open_.size(); i-- > 0;) {
            if (events_[open_[i]].kind != kind || events_[open_[i]].value != value) continue;
            open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
            return true;
        }
        return false;
    }

    std::vector<Event>& events_;
    const Values& posted_;
    std::vector<std::size_t> open_;        // locks and units, in order
    std::vector<std::uint64_t> unlocked_;  // held when the stream began
};

Values tokens_posted(const Trace& trace) {
    Values posted;
    for (const Stream& stream : trace.streams)
        for (const Event& event : stream.events)
            if (event.kind == Kind::post) posted.insert(event.value);
    return posted;
}

// Threads that held one lock together when the window began were readers.
void share_locks(std::vector<Added>& added) {
    std::unordered_map<std::uint64_t, std::uint32_t> holders;
    for (const Added& each : added) {
        Values mine;
        for (const Event& lock : each.first)
            if (mine.insert(lock.value).second) ++holders[lock.value];
    }
    for (Added& each : added)
        for (Event& lock : each.first)
            if (holders[lock.value] > 1) lock.aux = lock_shared;
}

}  // namespace

Trace whole_window(const Trace& recorded) {
    Trace whole = recorded;
    const Values posted = tokens_posted(whole);
    std::vector<Added> added;
    for (Stream& stream : whole.streams)
        added.push_back(StreamMender(stream.events, posted).mend());
    share_locks(added);
    mend_barriers(whole);
    for (std::size_t s = 0; s < added.size(); ++s) {
        auto& events = whole.streams[s].events;
        events.insert(events.begin(), added[s].first.begin(), added[s].first.end());
        events.insert(events.end(), added[s].last.begin(), added[s].last.end());
    }
    return whole;
}

}  // namespace autofinity::trace
