// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "analyzer/partition/device_ops.h"
#include "analyzer/partition/gap_facts.h"
#include "analyzer/partition/host_activity.h"
#include "analyzer/partition/launch_latency.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Explains the idle time of one device by the binding constraint of the op that ends it: what that
/// op was still waiting for, not what else went on meanwhile. Call explain() in the order of time.
class GapExplainer {
 public:
  GapExplainer(const GapFacts& facts, const DeviceWork& work);

  /// Cuts the idle interval `gap`, which `next` ends, into segments that cover it exactly.
  void explain(Interval gap, trace::DeviceOpId next, std::vector<Segment>& out);

 private:
  /// The state of the walk over a host thread.
  struct Walk {
    trace::ThreadId thread;
    /// Set when the device ran dry while the thread waited for it: the class of that wait, which also pays for the refill.
    std::optional<TimeClass> drained_by = {};
    bool visiting = false;  ///< this is the partner of the thread that launches
  };
  void explain_without_launch(Interval gap, trace::DeviceOpId next,
                              std::vector<Segment>& out) const;
  void explain_host(Interval window, Walk& walk, std::vector<Segment>& out);
  void explain_activity(const Activity& activity, const Walk& walk, std::vector<Segment>& out);
  void explain_nothing(Interval part, const Walk& walk, std::vector<Segment>& out);
  bool visit_partner(Interval part, const Walk& walk, TimeClass otherwise, EventRef cause,
                     std::vector<Segment>& out);
  bool waits_for_partner(const Activity& activity) const;
  void push_refill(Interval part, const Walk& walk, TimeClass own, EventRef cause,
                   std::vector<Segment>& out);
  void put_overheads_over(trace::ProcessId process, std::size_t from,
                          std::vector<Segment>& out) const;

  void explain_block(Interval part, trace::CallId call, std::vector<Segment>& out) const;

  const GapFacts& facts_;
  const trace::Trace& trace_;
  TimeNs dry_since_;  ///< begin of the gap at hand
  /// How far the host would be ahead without the waits that drained the queue: its waiting time until
  /// the device ran dry, less the refill since. A longer refill is not charged to those waits.
  DurationNs lost_lead_;
  bool lone_cuda_device_;
  HostActivity activity_;
  GapFacts::HostPlaces places_;
  DeviceLatencies latency_;
};

}  // namespace headway::analyzer
