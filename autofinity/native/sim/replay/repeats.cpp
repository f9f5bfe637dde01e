// The region of interest again and again, so that a short capture makes a run that is long enough
// for what looks at it every so often.
//
// Each time begins where the first one did: every stream at its step, every lock, barrier and token
// as it was. The caches, the translations and the nodes of pages stay as the last time left them,
// and nothing outside the region takes simulated time.
#include "simulation.hpp"

namespace autofinity::sim {

void Simulation::remember_start() {
    region_began_ = std::make_unique<RegionStart>(
        RegionStart{streams_, locks_, barriers_, tokens_, token_waiters_, next_of_instance_, tasks_,
                    instances_with_tasks_, idle_streams_, runs_[0].live});
}

void Simulation::begin_again(Ticks at) {
    --repeats_left_;
    for (const Stream& s : streams_) at = runs_[0].live == 0 ? std::max(at, s.accounted) : at;
    take_off(0, at);
    forget(0);
    if (!region_began_) {  // the whole program is the region
        start_process(0, at);
        order_anew();
        return;
    }
    const RegionStart& start = *region_began_;
    locks_ = start.locks;
    barriers_ = start.barriers;
    tokens_ = start.tokens;
    token_waiters_ = start.token_waiters;
    next_of_instance_ = start.next_of_instance;
    tasks_ = start.tasks;
    instances_with_tasks_ = start.instances_with_tasks;
    idle_streams_ = start.idle_streams;
    runs_[0].live = start.live;
    for (std::uint32_t i = 0; i < streams_.size(); ++i) {
        const Stream& then = start.streams[i];
        Stream& s = streams_[i];
        s.at = then.at;
        s.begin = then.begin;
        s.moved = then.moved;
        s.begin_at = then.begin_at;
        s.foreseen = {};
        s.source = then.source;
        s.skip = then.skip;
        s.frames = then.frames;
        s.resumable = then.resumable;
        s.instance = then.instance;
        s.resume = then.resume;
        s.resume_line = then.resume_line;
        if (then.status == Status::blocked) {
            s.status = Status::blocked;
            s.blocked_at = at;
        } else if (then.status != Status::absent) {
            wake(i, at);
        }
    }
    order_anew();
}

}  // namespace autofinity::sim
