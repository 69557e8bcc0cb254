// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/partition/host_activity.h"
#include "analyzer/partition/partition.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What a loader that runs on the training thread is doing, by the name of an op or a Python function:
/// Pillow, OpenCV, torchvision and the default collate function in their own spelling.
std::optional<TimeClass> class_of_loader_name(std::string_view name);

/// Who makes which batch, and what the ranges of loaders mean. Immutable after construction.
class InputWaits {
 public:
  InputWaits(const trace::Trace& trace, const Attribution& attribution);

  /// The range in which the thread waits for input, `range` itself or around it; none when it does
  /// not wait.
  trace::RangeId wait_around(trace::RangeId range) const;

  /// The class of a loader stage that runs in `range` or around it, for loading on the training
  /// thread itself; nullopt without one.
  std::optional<TimeClass> stage_around(trace::RangeId range) const;
  /// The range of that stage: `range` or the closest around it; usually none.
  trace::RangeId stage_range(trace::RangeId range) const;

  /// Cuts `window`, a part of the wait `wait`, by what the worker of the awaited batch did at each
  /// instant; without a known worker by what the waiting thread did itself.
  void explain(trace::RangeId wait, Interval window, HostActivity& activity,
               std::vector<Segment>& out) const;

  /// True when the trace declares any wait for input.
  bool any_wait_declared() const { return any_wait_; }

 private:
  /// The pieces of `part` in which the thread reads or opens files, by time: only when no range says
  /// so itself.
  std::vector<Interval> reads_in(trace::ThreadId thread, Interval part) const;
  trace::RangeId maker_of(trace::ProcessId process, std::int64_t batch) const;

  const trace::Trace& trace_;
  const Attribution& attribution_;
  std::vector<trace::ProcessId> parent_;  ///< by process; none where it was not recorded
  std::map<std::int64_t, std::vector<trace::RangeId>> makers_;  ///< kBatch ranges by batch id
  bool any_wait_ = false;
  bool any_read_stage_ = false;
  bool any_stage_ = false;  ///< false: no range needs a look-up
};

}  // namespace headway::analyzer
