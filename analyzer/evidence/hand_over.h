// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "analyzer/evidence/rule.h"
#include "common/time.h"

namespace headway::analyzer {

/// What a batch from a worker process costs the thread that takes it in PyTorch, 0 elsewhere: a wake-up and a message,
/// and for each tensor a connection that its memory is mapped through. `busy`: how far processors are always wanted, 0 to 1.
/// Measured with batches that were ready (docs/design/0053-what-fresh-seeds-showed.md).
DurationNs hand_over(const RuleContext& context, double busy);

/// The same on idle processors, of a batch that is there when it is asked for. None outside of PyTorch.
std::optional<DurationNs> ready_hand_over(const trace::Trace& trace, const ProgramFacts& program);

/// How far all processors are always wanted, 0 to 1, so that who is woken waits for one.
double processors_wanted(const RuleContext& context);
/// The same in a step that takes `shorter`, a share of the recorded one: threads do the same work in it, so processors are busier.
double processors_wanted(const RuleContext& context, double shorter);

/// Where threads are woken slowly, as in virtual machines, it takes so many times as long.
constexpr double kSlowWaking = 3;

/// By how much steps that take a batch from a worker compute longer on the processor: the loader's threads want the
/// interpreter, and pages of the batch are touched and given back there. 0 outside of PyTorch and with a device.
DurationNs beside_hand_over(const RuleContext& context);

}  // namespace headway::analyzer
