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
        .def_rw("smt_slowdown", &CoreClass::smt_slowdown)
        .def_rw("smt_window", &CoreClass::smt_window)
        .def_rw("smt_shares_misses", &CoreClass::smt_shares_misses);

    nb::class_<MachineModel>(module, "MachineModel",
                             "A topology and how fast all of it is; latencies in ticks.")
        .def(nb::init<const autofinity::topology::Machine&>(), nb::arg("topology"))
        .def_rw("llc_distance", &MachineModel::llc_distance)
        .def_rw("node_distance", &MachineModel::node_distance)
        .def_rw("ghz", &MachineModel::ghz)
        .def_rw("llc", &MachineModel::llc)
        .def_rw("directory", &MachineModel::directory)
        .def_rw("page_bytes", &MachineModel::page_bytes)
        .def_rw("home_of_node", &MachineModel::home_of_node)
        .def_rw("route_begin", &MachineModel::route_begin)
        .def_rw("route_links", &MachineModel::route_links)
        .def_rw("llc_inclusive", &MachineModel::llc_inclusive)
        .def_rw("llc_by_home", &MachineModel::llc_by_home)
        .def_rw("owned_state", &MachineModel::owned_state)
        .def_rw("clean_forwarding", &MachineModel::clean_forwarding)
        .def_rw("llc_hit", &MachineModel::llc_hit)
        .def_rw("dram", &MachineModel::dram)
        .def_rw("load_modified", &MachineModel::load_modified)
        .def_rw("load_shared", &MachineModel::load_shared)
        .def_rw("store_modified", &MachineModel::store_modified)
        .def_rw("store_shared", &MachineModel::store_shared)
        .def_rw("atomic_modified", &MachineModel::atomic_modified)
        .def_rw("atomic_shared", &MachineModel::atomic_shared)
        .def_rw("atomic_hit", &MachineModel::atomic_hit)
        .def_rw("memory_service", &MachineModel::memory_service)
        .def_rw("link_service", &MachineModel::link_service)
        .def_rw("fabric_service", &MachineModel::fabric_service)
        .def_rw("fabric_write_service", &MachineModel::fabric_write_service)
        .def_rw("llc_service", &MachineModel::llc_service)
        .def_rw("class_of_core", &MachineModel::class_of_core)
        .def_rw("classes", &MachineModel::classes)
        .def_rw("time_slice", &MachineModel::time_slice)
        .def_rw("context_switch", &MachineModel::context_switch)
        .def_rw("spin", &MachineModel::spin)
        .def_rw("wake", &MachineModel::wake)
        .def_rw("migration", &MachineModel::migration)
        .def_rw("balance", &MachineModel::balance)
        .def_rw("cache_hot", &MachineModel::cache_hot)
        .def_rw("daemon", &MachineModel::daemon)
        .def_rw("shootdown", &MachineModel::shootdown)
        .def_rw("interrupt", &MachineModel::interrupt)
        .def_rw("skew", &MachineModel::skew)
        .def("validate", &validate,
             "Raises SimulationError for a machine that cannot be simulated.");
}

}  // namespace autofinity::sim
