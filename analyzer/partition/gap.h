// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <vector>

#include "analyzer/partition/device_ops.h"
#include "analyzer/partition/host_activity.h"
#include "analyzer/partition/input_wait.h"
#include "analyzer/partition/launch_latency.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Explains the idle time of one device by the binding constraint of the op that ends it: what that
/// op was still waiting for, not whatever else went on meanwhile.
class GapExplainer {
 public:
  GapExplainer(const trace::Trace& trace, const Attribution& attribution, const Steps& steps,
               HostActivity& activity, InputWaits& waits, const DeviceWork& work);

  /// Cuts the idle interval `gap`, which `next` ends, into segments that cover it exactly.
  void explain(Interval gap, trace::DeviceOpId next, std::vector<Segment>& out);

 private:
  struct Dependency {
    trace::DeviceOpId op;  ///< none: nothing beyond the stream's own order
    TimeNs end;
  };
  Dependency last_awaited_event(trace::DeviceOpId op) const;
  void explain_host(Interval window, trace::ThreadId thread, bool& drained,
                    std::vector<Segment>& out);
  void explain_activity(const Activity& activity, Interval part, trace::ThreadId thread,
                        bool drained, std::vector<Segment>& out);
  void explain_nothing(Interval part, trace::ThreadId thread, bool drained,
                       std::vector<Segment>& out);
  bool in_step(trace::ThreadId thread, TimeNs t) const;
  void add_latency(Interval window, TimeNs until, TimeClass latency_class, EventRef call,
                   std::vector<Segment>& out);

  const trace::Trace& trace_;
  const Attribution& attribution_;
  std::map<trace::ThreadId, std::vector<Interval>> steps_of_thread_;
  HostActivity& activity_;
  InputWaits& waits_;
  std::vector<trace::DeviceOpId> previous_;  ///< per device op: the one before it on its stream
  DeviceLatencies latency_;
  std::map<trace::StreamId, std::vector<trace::CallId>>
      waits_of_stream_;  ///< stream-wait-event calls by start
  std::map<std::pair<trace::ProcessId, std::uint64_t>, trace::CallId>
      records_;  ///< event records by sync id
};

}  // namespace headway::analyzer
