#include "os_scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace autofinity::sim {
namespace {

// A group counts as busier from this percentage on: sched_domain::imbalance_pct, 117 where the
// caches are shared and 125 elsewhere.
constexpr std::uint64_t imbalance_near = 117, imbalance_far = 125;
// Attempts without success before a running thread is moved: cache_nice_tries (1) + 2.
constexpr std::uint32_t patience = 3;

}  // namespace

OsScheduler::OsScheduler(const MachineModel& machine,
                         const std::vector<std::vector<std::uint32_t>>& allowed, std::uint64_t seed)
    : machine_(machine),
      pus_(static_cast<std::uint32_t>(machine.topology.pus().size())),
      allowed_(allowed.size()),
      state_(seed) {
    for (std::size_t stream = 0; stream < allowed.size(); ++stream) {
        if (!allowed[stream].empty()) allowed_[stream].resize(pus_);
        for (const std::uint32_t pu : allowed[stream]) allowed_[stream][pu] = true;
    }
    std::vector<std::uint32_t> own(pus_), llc(pus_), node(pus_);
    std::iota(own.begin(), own.end(), 0u);
    for (std::uint32_t pu = 0; pu < pus_; ++pu) {
        llc[pu] = machine.topology.llc_of_core()[machine.topology.core_of_pu()[pu]];
        node[pu] = machine.topology.node_of_core()[machine.topology.core_of_pu()[pu]];
    }
    add_level(own);
    add_level(machine.topology.core_of_pu());
    add_level(llc);
    llc_level_ = levels_.size() - 1;
    add_level(node);
    add_level(packages());
    add_level(std::vector<std::uint32_t>(pus_, 0));
}

void OsScheduler::keep_on(std::uint32_t stream, const std::vector<std::uint32_t>& pus) {
    allowed_[stream].assign(pus_, false);
    for (const std::uint32_t pu : pus) allowed_[stream][pu] = true;
}

// Packages, each by its first PU. Nodes or LLC domains whose distance class is at most 1 are in one
// package.
std::vector<std::uint32_t> OsScheduler::packages() const {
    const auto& topology = machine_.topology;
    const auto together = [&](std::uint32_t pu, std::uint32_t other) {
        const std::uint32_t a = topology.core_of_pu()[pu], b = topology.core_of_pu()[other];
        const auto& node = topology.node_of_core();
        const auto& llc = topology.llc_of_core();
        return machine_.node_distance[node[a] * topology.nodes() + node[b]] <= 1 ||
               machine_.llc_distance[llc[a] * topology.llcs() + llc[b]] <= 1;
    };
    std::vector<std::uint32_t> name(pus_);
    for (std::uint32_t pu = 0; pu < pus_; ++pu)
        while (!together(pu, name[pu])) ++name[pu];
    return name;
}

// Adds a level, unless it only repeats the one below.
void OsScheduler::add_level(const std::vector<std::uint32_t>& name_of_pu) {
    Level level;
    std::unordered_map<std::uint32_t, std::uint32_t> number;
    for (std::uint32_t pu = 0; pu < pus_; ++pu) {
        const auto [at, added] =
            number.try_emplace(name_of_pu[pu], static_cast<std::uint32_t>(level.groups.size()));
        if (added) level.groups.emplace_back();
        level.groups[at->second].push_back(pu);
        level.group_of_pu.push_back(at->second);
    }
    if (!levels_.empty() && level.groups.size() == levels_.back().groups.size()) return;
    level.vain.assign(level.groups.size(), 0);
    levels_.push_back(std::move(level));
}

// splitmix64 (Steele, Lea & Flood 2014).
std::uint64_t OsScheduler::next() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

std::uint32_t OsScheduler::place_new(std::uint32_t stream, std::uint32_t creator_pu,
                                     const Loads& loads) {
    std::vector<std::uint32_t> candidates = levels_.back().groups[0];
    for (std::size_t level = levels_.size() - 1; level-- > 0;) {
        const Level& inner = levels_[level];
        std::vector<std::uint64_t> load(inner.groups.size()), room(inner.groups.size());
        for (const std::uint32_t pu : candidates)
            if (may_run(stream, pu)) {
                load[inner.group_of_pu[pu]] += loads[pu];
                ++room[inner.group_of_pu[pu]];
            }
        std::vector<std::uint32_t> least;
        for (std::uint32_t group = 0; group < inner.groups.size(); ++group) {
            if (room[group] == 0) continue;
            if (!least.empty()) {
                const std::uint64_t mine = load[group] * room[least[0]];
                const std::uint64_t best = load[least[0]] * room[group];
                if (mine > best) continue;
                if (mine < best) least.clear();
            }
            least.push_back(group);
        }
        const std::uint32_t local = inner.group_of_pu[creator_pu];
        const bool stays = std::find(least.begin(), least.end(), local) != least.end();
        candidates = inner.groups[stays ? local : pick(least)];
    }
    return candidates[0];
}

// An idle core, otherwise an idle PU.
std::optional<std::uint32_t> OsScheduler::idle_in(std::uint32_t stream,
                                                  const std::vector<std::uint32_t>& pus,
                                                  const Loads& loads) {
    std::vector<std::uint32_t> idle, whole;
    for (const std::uint32_t pu : pus) {
        if (loads[pu] != 0 || !may_run(stream, pu)) continue;
        idle.push_back(pu);
        const auto busy_sibling = [&](std::uint32_t other) {
            return machine_.topology.core_of_pu()[other] == machine_.topology.core_of_pu()[pu] &&
                   loads[other] != 0;
        };
        if (std::none_of(pus.begin(), pus.end(), busy_sibling)) whole.push_back(pu);
    }
    if (idle.empty()) return std::nullopt;
    return pick(whole.empty() ? idle : whole);
}

std::uint32_t OsScheduler::place_woken(std::uint32_t stream, std::uint32_t previous,
                                       std::uint32_t waker_pu, const Loads& loads) {
    if (loads[previous] == 0) return previous;
    const Level& llcs = levels_[llc_level_];
    const auto load_of = [&](std::uint32_t group) {
        double sum = 0;
        for (const std::uint32_t pu : llcs.groups[group]) sum += loads[pu];
        return sum / static_cast<double>(llcs.groups[group].size());
    };
    std::uint32_t group = llcs.group_of_pu[previous];
    const std::uint32_t wakers = llcs.group_of_pu[waker_pu];
    if (wakers != group && load_of(wakers) < load_of(group)) group = wakers;
    return idle_in(stream, llcs.groups[group], loads).value_or(previous);
}

std::vector<std::uint32_t> OsScheduler::busy_near(std::uint32_t pu, const Loads& loads) const {
    std::vector<std::uint32_t> found;
    for (const Level& level : levels_) {
        std::vector<std::uint32_t> here;
        for (const std::uint32_t other : level.groups[level.group_of_pu[pu]])
            if (loads[other] > 1 && std::find(found.begin(), found.end(), other) == found.end())
                here.push_back(other);
        std::stable_sort(here.begin(), here.end(),
                         [&](auto a, auto b) { return loads[a] > loads[b]; });
        found.insert(found.end(), here.begin(), here.end());
    }
    return found;
}

std::optional<std::uint32_t> OsScheduler::idle_near(std::uint32_t stream, std::uint32_t pu,
                                                    const Loads& loads) {
    for (std::size_t level = 1; level < levels_.size(); ++level)
        if (const auto idle =
                idle_in(stream, levels_[level].groups[levels_[level].group_of_pu[pu]], loads))
            return idle;
    return std::nullopt;
}

std::vector<OsScheduler::Move> OsScheduler::balance(std::uint64_t tick, const Loads& loads) {
    std::vector<Move> moves;
    Loads now = loads;
    for (std::size_t level = 1; level < levels_.size(); ++level) {
        // A domain's interval is as many milliseconds as it has PUs (sd_init: min_interval).
        const double interval_ns = 1e6 * static_cast<double>(levels_[level].groups[0].size());
        const double tick_ns = static_cast<double>(machine_.balance) /
                               (machine_.ghz * static_cast<double>(ticks_per_clock));
        const auto every = static_cast<std::uint64_t>(std::max(1.0, interval_ns / tick_ns));
        if (tick % every != 0) continue;
        for (std::uint32_t group = 0; group < levels_[level].groups.size(); ++group)
            if (const auto move = even_out(level, group, now)) {
                moves.push_back(*move);
                --now[move->from];
                ++now[move->to];
            }
    }
    return moves;
}

std::optional<OsScheduler::Move> OsScheduler::even_out(std::size_t level, std::uint32_t group,
                                                       const Loads& loads) {
    const Level& inner = levels_[level - 1];
    std::vector<std::uint64_t> load(inner.groups.size());
    std::uint32_t busiest = pus_, idlest = pus_;
    const auto less = [&](std::uint32_t a, std::uint32_t b) {
        return load[a] * inner.groups[b].size() < load[b] * inner.groups[a].size();
    };
    for (const std::uint32_t pu : levels_[level].groups[group])
        load[inner.group_of_pu[pu]] += loads[pu];
    for (const std::uint32_t pu : levels_[level].groups[group]) {
        const std::uint32_t each = inner.group_of_pu[pu];
        if (busiest == pus_ || less(busiest, each)) busiest = each;
        if (idlest == pus_ || less(each, idlest)) idlest = each;
    }
    const std::uint64_t percent = level <= llc_level_ ? imbalance_near : imbalance_far;
    const std::uint64_t rooms_b = inner.groups[busiest].size();
    const std::uint64_t rooms_i = inner.groups[idlest].size();
    // Worth it only when the busiest group stays at least as busy as the idlest becomes.
    if (load[busiest] * rooms_i * 100 <= load[idlest] * rooms_b * percent || load[busiest] == 0 ||
        (load[busiest] - 1) * rooms_i < (load[idlest] + 1) * rooms_b) {
        levels_[level].vain[group] = 0;
        return std::nullopt;
    }
    const auto by_load = [&](auto a, auto b) { return loads[a] < loads[b]; };
    const auto& theirs = inner.groups[busiest];
    const auto& ours = inner.groups[idlest];
    const std::uint32_t from = *std::max_element(theirs.begin(), theirs.end(), by_load);
    const std::uint32_t to = *std::min_element(ours.begin(), ours.end(), by_load);
    if (loads[from] > 1) {
        levels_[level].vain[group] = 0;
        return Move{from, to, false};
    }
    if (++levels_[level].vain[group] <= patience) return std::nullopt;
    levels_[level].vain[group] = 0;
    return Move{from, to, true};
}

Ticks OsScheduler::until_daemon() {
    const double uniform = static_cast<double>(next() >> 11) * 0x1p-53;
    const double mean = static_cast<double>(machine_.daemon) / static_cast<double>(pus_);
    return static_cast<Ticks>(-std::log1p(-uniform) * mean) + 1;
}

}  // namespace autofinity::sim
