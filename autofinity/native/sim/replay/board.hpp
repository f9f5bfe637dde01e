// The streams and PUs of a replay, and the order in which PUs are due: the common state of its
// parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "due_pus.hpp"
#include "pu.hpp"
#include "sim/machine.hpp"
#include "sim/program/program.hpp"

namespace autofinity::sim {

struct Board {
    // Throws SimulationError for a machine with too many PUs, or an unknown PU.
    Board(const MachineModel& machine, const Program& program,
          const std::vector<std::uint32_t>& pu_of_stream, std::uint32_t most_cached_cores);

    std::vector<Stream> streams;
    std::vector<Pu> pus;
    std::vector<std::vector<std::uint32_t>> pus_of_cached_core;  // of cores that have caches
    DuePus due;
    std::uint32_t turn = nobody;  // PU whose turn it is
    bool yield = false;           // it must let the others have a turn

    std::uint32_t number_of(const Stream& s) const {
        return static_cast<std::uint32_t>(&s - streams.data());
    }
    const CoreClass& kind_of(const Stream& s) const { return *pus[s.pu].kind; }
    bool runs(std::uint32_t pu) const { return pus[pu].stream != nobody && due.contains(pu); }
    // The PU's next step is due at another time: earlier or later.
    void advance(std::uint32_t pu, Ticks key) {
        pus[pu].key = key;
        due.advance(pu, key);
    }
    void delay(std::uint32_t pu, Ticks duration) {
        Pu& p = pus[pu];
        p.time += duration;
        p.key += duration;
        due.delay(pu, p.key);
    }
    void order_anew();

    // Text for messages: the step that a stream has just taken, or another one.
    std::string where(const Stream& s) const {
        return where(s, s.position.source, s.position.place() - 1);
    }
    std::string where(const Stream& s, std::uint32_t source, std::ptrdiff_t step) const;
};

}  // namespace autofinity::sim
