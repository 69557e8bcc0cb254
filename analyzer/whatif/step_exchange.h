// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "analyzer/whatif/transfers.h"

/// The exchange of gradients in one step: its messages, and the kernels and calls of each.
namespace headway::analyzer {

/// The exchange on one stream in one step, as one list of transfers for each stage. All lists have
/// the same length; the i-th transfers of all lists belong to one bucket.
using StepStages = std::vector<std::vector<Transfer>>;
/// Calls `visit(stages, step)` for each step of a device and each of its streams on which the step
/// has all stages complete. `all`: by start, one list for each stage (stages_of_exchange).
void for_each_step_exchange(const Predictor& predictor, const DevicePartition& partition,
                            const std::vector<std::vector<Transfer>>& all,
                            const std::function<void(const StepStages&, Interval)>& visit);

/// The kernels that pack and unpack the messages of a stream in a step: those with exactly one
/// kernel of a name per transfer. One list for each name.
std::vector<std::vector<trace::DeviceOpId>> companions(const Predictor& predictor,
                                                       trace::StreamId stream, Interval step,
                                                       std::size_t transfers);

/// The calls right before the launches of a transfer that make its stream wait for the gradients: records of events and
/// waits for them.
std::vector<trace::CallId> waits_before(const trace::Trace& trace, trace::DeviceOpId transfer);

}  // namespace headway::analyzer
