// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "analyzer/whatif/transfers.h"

/// The exchange of gradients in one step: its messages and what goes with each.
namespace headway::analyzer {

/// What of `all` (by start) runs on a device in the window, by stream.
std::map<trace::StreamId, std::vector<Transfer>> transfers_within(const trace::Trace& trace,
                                                                  const std::vector<Transfer>& all,
                                                                  trace::DeviceId device,
                                                                  Interval window);

/// The kernels that go with the transfers of a stream in a step: of each name one for each of them (packing
/// into the message, and unpacking).
std::vector<std::vector<trace::DeviceOpId>> companions(const Predictor& predictor,
                                                       trace::StreamId stream, Interval step,
                                                       std::size_t transfers);

/// The calls right before the launches of a transfer that make its stream wait for the gradients: records of events and
/// waits for them.
std::vector<trace::CallId> waits_before(const trace::Trace& trace, trace::DeviceOpId transfer);

}  // namespace headway::analyzer
