// The simulation's part in a private stage: taking one down, and the steps that only one has.
#include <algorithm>

#include "error.hpp"
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

void must_have_stage(const Machine& machine, const Program& program,
                     const std::vector<std::uint32_t>& pu_of_stream) {
    if (!program.units.empty())
        throw SimulationError("a program with work units has no private stage");
    if (program.streams.size() > domains_in_a_word)
        throw SimulationError("a program of more than " + std::to_string(domains_in_a_word) +
                              " streams has no private stage");
    if (machine.classes.size() != 1 || machine.classes[0].side.l2.ways == 0)
        throw SimulationError("cores without an L2 or of several kinds have no private stage");
    if (has_shared_l2(machine))
        throw SimulationError("cores that share an L2 have no private stage");
    if (pu_of_stream.size() != program.streams.size())
        throw SimulationError("got a PU for " + std::to_string(pu_of_stream.size()) +
                              " streams; the trace has " + std::to_string(program.streams.size()));
    for (const std::uint32_t pu : pu_of_stream)
        if (pu >= machine.core_of_pu.size())
            throw SimulationError("got PU " + std::to_string(pu) + "; the machine has " +
                                  std::to_string(machine.core_of_pu.size()));
}

namespace {

void must_be_of(const Program& program, const KnownRaces& races) {
    const auto beyond = [](const std::vector<std::uint32_t>& all, std::size_t end) {
        return std::any_of(all.begin(), all.end(),
                           [end](std::uint32_t each) { return each >= end; });
    };
    if (beyond(races.pages, program.n_pages()) || beyond(races.lines, program.first_lock_line))
        throw SimulationError("got races for pages or lines that the program does not have");
}

}  // namespace

ProgramPtr derive_private_stage(std::shared_ptr<const Machine> machine, ProgramPtr program,
                                const std::vector<std::uint32_t>& pu_of_stream, std::uint64_t seed,
                                const std::optional<KnownRaces>& races) {
    must_have_stage(*machine, *program, pu_of_stream);
    Options options;
    options.pu_of_stream = pu_of_stream;
    options.seed = seed;
    options.derive = true;
    if (races) {
        must_be_of(*program, *races);
        options.races = *races;
    } else {
        Simulation first(machine, program, options);
        first.run();
        options.races = first.races();
        if (options.races.empty()) return first.derived();
    }
    Simulation second(std::move(machine), std::move(program), std::move(options));
    second.run();
    return second.derived();
}

}  // namespace autofinity::sim
