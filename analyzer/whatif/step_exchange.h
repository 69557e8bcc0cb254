// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "analyzer/whatif/transfers.h"

/// The exchange of gradients in one step: its messages and what goes with each.
namespace headway::analyzer {

/// The stages of one sum after another on one stream, in one step: as many transfers in each, the i-th of each for one bucket.
using StepStages = std::vector<std::vector<Transfer>>;
/// Calls `visit(stages, step)` for each step of a device and each stream of it that has all stages of the exchange, complete.
/// `all`: by start, one list for each stage (stages_of_exchange).
void for_each_step_exchange(const Predictor& predictor, const DevicePartition& partition,
                            const std::vector<std::vector<Transfer>>& all,
                            const std::function<void(const StepStages&, Interval)>& visit);

/// The kernels that go with the transfers of a stream in a step: of each name one for each of them (packing
/// into the message, and unpacking).
std::vector<std::vector<trace::DeviceOpId>> companions(const Predictor& predictor,
                                                       trace::StreamId stream, Interval step,
                                                       std::size_t transfers);

/// The calls right before the launches of a transfer that make its stream wait for the gradients: records of events and
/// waits for them.
std::vector<trace::CallId> waits_before(const trace::Trace& trace, trace::DeviceOpId transfer);

}  // namespace headway::analyzer
