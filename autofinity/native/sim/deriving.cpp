// The simulation's part in a private stage: taking one down, and the steps that only one has.
#include <algorithm>

#include "simulation.hpp"

namespace autofinity::sim {
namespace {

// Takes out of a tally what it has of `apart`, which is done with then.
void leave_out(Tally& tally, Tally& apart) {
    for (const auto field : {&Tally::loads, &Tally::stores, &Tally::l2_hits,
                             &Tally::clean_l1_victims, &Tally::modified_l1_victims}) {
        const std::uint32_t both = std::min(tally.*field, apart.*field);
        tally.*field -= both;
        apart.*field -= both;
    }
}

}  // namespace

void Simulation::follow(Pu& p, Stream& s, const Step& step) {
    if (step.kind != kind_tally) {
        s.dirty_victims += memory_.follow(p.slot, step);
        return;
    }
    Tally tally = program_->stage->tallies[step.line];
    if (s.apart != Tally{}) [[unlikely]]
        leave_out(tally, s.apart);
    Counts& n = s.counts;
    n[data_cache_loads] += tally.loads;
    n[data_cache_stores] += tally.stores;
    n[data_cache_misses] += tally.l2_hits;
    n[l2_accesses] += tally.l2_hits;
    n[data_cache_refills_from_l2] += tally.l2_hits;
    // Some of the lines were fetched dirty.
    const std::uint64_t dirty = std::min<std::uint64_t>(s.dirty_victims, tally.clean_l1_victims);
    s.dirty_victims -= dirty;
    n[clean_data_cache_lines_evicted] += tally.clean_l1_victims - dirty;
    n[modified_data_cache_lines_evicted] += tally.modified_l1_victims + dirty;
    n[invalid_data_cache_lines_evicted] += tally.invalid_l1_victims;
    n[dtlb_misses] += tally.tlb2_hits + tally.walks;
    n[l2_tlb_hits] += tally.tlb2_hits;
    n[page_walks] += tally.walks;
    p.time += tally.stall;
    s.stall_ticks += tally.stall;
}

// What an access pushed out or fetched ahead, which the next steps say.
void Simulation::follow_pushed(const Pu& p, Stream& s) {
    for (; is_pushed(s.at->kind); ++s.at) s.dirty_victims += memory_.follow(p.slot, *s.at);
}

ProgramPtr Simulation::derived() {
    for (const Stream& s : streams_) recorder_->rest(number_of(s), s.at, s.instructions, s.skip);
    return recorder_->finish(*machine_, *program_,
                             PrivateGeometry(*machine_, options_.pu_of_stream, options_.seed),
                             options_.races);
}

}  // namespace autofinity::sim
