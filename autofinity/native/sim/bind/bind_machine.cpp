// Python face of machines; autofinity/sim/native.py fills them in.
#include "bind_machine.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include "sim/machine.hpp"

namespace nb = nanobind;

namespace autofinity::sim {

void bind_machine(nb::module_& module) {
    nb::class_<CacheShape>(module, "CacheShape", "Sets and ways of a cache or TLB.")
        .def(nb::init<std::uint32_t, std::uint32_t>(), nb::arg("sets"), nb::arg("ways"));
    nb::class_<PrefetchShape>(module, "PrefetchShape", "Stream prefetcher of a core.")
        .def(nb::init<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(),
             nb::arg("streams"), nb::arg("trigger"), nb::arg("distance"), nb::arg("degree"),
             nb::arg("in_flight"));
    nb::class_<PrivateSide>(module, "PrivateSide", "Caches, TLBs and prefetcher of a kind of core.")
        .def(nb::init<>())
        .def_rw("l1", &PrivateSide::l1)
        .def_rw("l2", &PrivateSide::l2)
        .def_rw("l2_exclusive", &PrivateSide::l2_exclusive)
        .def_rw("tlb1", &PrivateSide::tlb1)
        .def_rw("tlb2", &PrivateSide::tlb2)
        .def_rw("prefetch", &PrivateSide::prefetch)
        .def_rw("l1_hit", &PrivateSide::l1_hit)
        .def_rw("l2_hit", &PrivateSide::l2_hit)
        .def_rw("tlb2_hit", &PrivateSide::tlb2_hit)
        .def_rw("page_walk", &PrivateSide::page_walk)
        .def_rw("walk_reads_caches", &PrivateSide::walk_reads_caches)
        .def_rw("page_fault", &PrivateSide::page_fault);
    nb::class_<CoreClass>(module, "CoreClass", "A kind of core.")
        .def(nb::init<>())
        .def_rw("side", &CoreClass::side)
        .def_rw("instruction", &CoreClass::instruction)
        .def_rw("clock_ratio", &CoreClass::clock_ratio)
        .def_rw("misses_in_flight", &CoreClass::misses_in_flight)
        .def_rw("window", &CoreClass::window)
        .def_rw("uops_per_instruction", &CoreClass::uops_per_instruction)
        .def_rw("smt_slowdown", &CoreClass::smt_slowdown);

    nb::class_<Machine>(module, "Machine", "A machine in dense indices; latencies in ticks.")
        .def(nb::init<>())
        .def_rw("core_of_pu", &Machine::core_of_pu)
        .def_rw("llc_of_core", &Machine::llc_of_core)
        .def_rw("node_of_core", &Machine::node_of_core)
        .def_rw("l2_of_core", &Machine::l2_of_core)
        .def_rw("llcs", &Machine::llcs)
        .def_rw("nodes", &Machine::nodes)
        .def_rw("llc_distance", &Machine::llc_distance)
        .def_rw("node_distance", &Machine::node_distance)
        .def_rw("ghz", &Machine::ghz)
        .def_rw("llc", &Machine::llc)
        .def_rw("directory", &Machine::directory)
        .def_rw("page_bytes", &Machine::page_bytes)
        .def_rw("home_of_node", &Machine::home_of_node)
        .def_rw("route_begin", &Machine::route_begin)
        .def_rw("route_links", &Machine::route_links)
        .def_rw("llc_inclusive", &Machine::llc_inclusive)
        .def_rw("owned_state", &Machine::owned_state)
        .def_rw("clean_forwarding", &Machine::clean_forwarding)
        .def_rw("llc_hit", &Machine::llc_hit)
        .def_rw("dram", &Machine::dram)
        .def_rw("load_modified", &Machine::load_modified)
        .def_rw("load_shared", &Machine::load_shared)
        .def_rw("store_modified", &Machine::store_modified)
        .def_rw("store_shared", &Machine::store_shared)
        .def_rw("atomic_modified", &Machine::atomic_modified)
        .def_rw("atomic_shared", &Machine::atomic_shared)
        .def_rw("atomic_hit", &Machine::atomic_hit)
        .def_rw("memory_service", &Machine::memory_service)
        .def_rw("link_service", &Machine::link_service)
        .def_rw("fabric_service", &Machine::fabric_service)
        .def_rw("class_of_core", &Machine::class_of_core)
        .def_rw("classes", &Machine::classes)
        .def_rw("time_slice", &Machine::time_slice)
        .def_rw("context_switch", &Machine::context_switch)
        .def_rw("spin", &Machine::spin)
        .def_rw("wake", &Machine::wake)
        .def_rw("migration", &Machine::migration)
        .def_rw("balance", &Machine::balance)
        .def_rw("cache_hot", &Machine::cache_hot)
        .def_rw("daemon", &Machine::daemon)
        .def_rw("shootdown", &Machine::shootdown)
        .def_rw("interrupt", &Machine::interrupt)
        .def_rw("skew", &Machine::skew)
        .def("validate", &validate,
             "Raises SimulationError for a machine that cannot be simulated.");
}

}  // namespace autofinity::sim
