// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "analyzer/evidence/rule.h"
#include "common/time.h"

namespace headway::analyzer {

/// Time that a thread needs to take a batch from a worker process in PyTorch; 0 elsewhere. It
/// includes a wake-up, a message, and for each tensor a connection to map its memory. `busy`: the
/// result of processors_wanted(). Measured with batches that were ready
/// (docs/design/0053-what-fresh-seeds-showed.md).
DurationNs hand_over(const RuleContext& context, double busy);

/// The same for a batch that is ready when requested, on idle processors. None outside of PyTorch.
std::optional<DurationNs> ready_hand_over(const trace::Trace& trace, const ProgramFacts& program);

/// Share of time, 0 to 1, in which all processors are busy, so that a woken thread has to wait for
/// one.
double processors_wanted(const RuleContext& context);
/// The same if a step takes only the share `shorter` of its recorded time. Threads do the same work
/// in less time, so processors are busier.
double processors_wanted(const RuleContext& context, double shorter);

/// Factor on the hand-over where waking a thread is slow, as in virtual machines.
constexpr double kSlowWaking = 3;

/// Extra compute time on the processor in a step that takes a batch from a worker: the loader's
/// threads compete for the interpreter, and the step touches and frees the batch's pages. 0 outside
/// of PyTorch and with a device.
DurationNs beside_hand_over(const RuleContext& context);

}  // namespace headway::analyzer
