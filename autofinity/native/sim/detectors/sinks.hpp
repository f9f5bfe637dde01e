// Every detector as a sink.
#pragma once

#include <memory>

#include "detectors.hpp"
#include "sink.hpp"

namespace autofinity::sim {

std::unique_ptr<Sink> make_sink(SinkHost& host, const FaultSampling& wanted);
std::unique_ptr<Sink> make_sink(SinkHost& host, const HintingFaults& wanted);
std::unique_ptr<Sink> make_sink(SinkHost& host, const TlbAccessCounters& wanted);
std::unique_ptr<Sink> make_sink(SinkHost& host, const TlbMatching& wanted);
std::unique_ptr<Sink> make_sink(SinkHost& host, const RemoteAccesses& wanted);
std::unique_ptr<Sink> make_sink(SinkHost& host, const AccessSampling& wanted);

}  // namespace autofinity::sim
