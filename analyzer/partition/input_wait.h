// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analyzer/partition/host_activity.h"
#include "analyzer/partition/partition.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Explains waits for input: who makes the batch that is waited for, and what that worker does
/// meanwhile.
class InputWaits {
 public:
  InputWaits(const trace::Trace& trace, HostActivity& activity);

  /// The range in which the thread waits for input, `range` itself or around it; none when it does
  /// not wait.
  trace::RangeId wait_around(trace::RangeId range);

  /// The class of a loader stage that runs in `range` or around it, for loading on the training
  /// thread itself; nullopt when it is none.
  std::optional<TimeClass> stage_around(trace::RangeId range) const;

  /// Cuts `window`, a part of the wait `wait`, by what the worker of the awaited batch did at each
  /// instant.
  void explain(trace::RangeId wait, Interval window, std::vector<Segment>& out);

  /// True when the trace says anywhere when a thread waits for input.
  bool any_wait_declared() const { return any_wait_; }

 private:
  trace::RangeId maker_of(trace::ProcessId process, std::int64_t batch) const;
  bool is_wait(trace::RangeId range);

  const trace::Trace& trace_;
  HostActivity& activity_;
  std::map<std::int64_t, std::vector<trace::RangeId>> makers_;  ///< kBatch ranges by batch id
  std::map<trace::StringId, bool> wait_names_;
  bool any_wait_ = false;
};

/// True for names that loaders are known to wait under (PyTorch's DataLoader iterators,
/// TensorFlow's IteratorGetNext).
bool means_input_wait(std::string_view name);

}  // namespace headway::analyzer
