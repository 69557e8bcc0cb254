// SPDX-License-Identifier: MIT
#include "analyzer/job/summarise.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/partition/steady_ops.h"
#include "analyzer/ranks/identity.h"
#include "analyzer/ranks/launching_time.h"
#include "analyzer/ranks/work.h"
#include "analyzer/rules/registry.h"
#include "common/archive.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

/// Where a training thread computes: what class times do not tell apart.
void add_phases(const Attribution& attribution, const DevicePartition& partition,
                std::vector<RankStep>& steps) {
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const DeviceStep& step = partition.steps[s];
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = partition.segments[step.first_segment + i];
      if (segment.time_class != TimeClass::kComputeOther ||
          segment.cause.kind != EventRef::Kind::kRange)
        continue;
      const trace::Phase phase = attribution.contexts[segment.cause.index].phase;
      if (phase == trace::Phase::kForward) steps[s].forward += segment.interval.length();
      if (phase == trace::Phase::kBackward) steps[s].backward += segment.interval.length();
    }
  }
}

std::vector<RankStep> steps_of(const Steps& steps, const DevicePartition& partition) {
  std::vector<RankStep> out;
  for (const DeviceStep& step : partition.steps) {
    RankStep& target = out.emplace_back();
    target.number = steps.all.empty() ? 0 : steps.all[step.step].number;
    target.steady = counts(steps, step);
    target.time = step.interval;
    target.times = step.times;
  }
  return out;
}

using ByEvent = std::map<std::pair<EventRef::Kind, std::uint32_t>, std::uint32_t>;

/// The pieces of communication that the partition charges to one of the rank's collectives.
std::vector<Exposure> exposures_of(const Trace& trace, const Attribution& attribution,
                                   const DevicePartition& partition, const ByEvent& by_event) {
  std::vector<Exposure> out;
  for (std::uint32_t s = 0; s < partition.steps.size(); ++s) {
    const DeviceStep& step = partition.steps[s];
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = partition.segments[step.first_segment + i];
      if (segment.time_class != TimeClass::kCommTransfer) continue;
      const EventRef event = collective_of(trace, attribution, segment.cause);
      auto found = by_event.find({event.kind, event.index});
      if (found != by_event.end()) out.push_back({found->second, s, segment.interval});
    }
  }
  return out;
}

void fill(const Analysis& analysis, const DevicePartition& partition, RankDevice& device,
          RankSummary& summary) {
  device.steps = steps_of(analysis.steps, partition);
  device.per_steady_step = partition.per_steady_step;
  device.hidden_comm = partition.hidden_comm;
  device.hidden_h2d = partition.hidden_h2d;
  device.steady_steps = partition.steady_steps;
  summary.step = std::max(summary.step, partition.per_steady_step.total());
}

/// The partition of the device; of a training thread for one that stands for it. Null: none.
const DevicePartition* partition_of(const Analysis& analysis, const RankDevice& device) {
  for (const DevicePartition& partition : analysis.partitions) {
    if (device.on_host ? partition.thread.value == device.thread
                       : partition.device == device.view.device)
      return &partition;
  }
  return nullptr;
}

}  // namespace

RankSummary outline(const Trace& trace, const Analysis& analysis, RankIdentity identity) {
  RankSummary summary;
  summary.identity = identity;
  summary.file = trace.path;
  summary.host = trace.meta_value(trace::meta::kHost);
  summary.world_size = world_size_of(trace);
  summary.start_utc_ns = trace.start_utc_ns;
  summary.events = static_cast<std::int64_t>(trace.event_count());
  summary.step_source = analysis.steps.source;
  summary.median_step = analysis.median_step;
  for (const DeviceView& view : analysis.device_views) {
    RankDevice device;
    device.ordinal = trace.devices[view.device.value].ordinal;
    device.name = trace.devices[view.device.value].name;
    device.view = view;
    if (const DevicePartition* its = partition_of(analysis, device))
      fill(analysis, *its, device, summary);
    summary.devices.push_back(std::move(device));
  }
  for (const DevicePartition& partition : analysis.partitions) {
    if (!analysis.device_views.empty() || partition.device.valid()) continue;
    RankDevice host;
    host.on_host = true;
    host.thread = partition.thread.value;
    host.name = partition_label(trace, partition);
    fill(analysis, partition, host, summary);
    summary.devices.push_back(std::move(host));
  }
  if (summary.step.ns == 0) summary.step = summary.median_step;
  return summary;
}

RankSummary summarise(const Trace& trace, const Analysis& analysis, RankIdentity identity) {
  RankSummary summary = outline(trace, analysis, identity);
  summary.collectives = collectives_of(trace, analysis.steps, analysis.attribution);
  ByEvent by_event;
  for (std::uint32_t i = 0; i < summary.collectives.rows.size(); ++i) {
    const EventRef event = summary.collectives.rows[i].event();
    by_event[{event.kind, event.index}] = i;
  }
  for (RankDevice& device : summary.devices) {
    const DevicePartition* partition = partition_of(analysis, device);
    if (!partition) continue;
    device.exposures = exposures_of(trace, analysis.attribution, *partition, by_event);
    if (device.on_host)
      add_phases(analysis.attribution, *partition, device.steps);
    else
      summary.work_measure = add_work(trace, analysis.attribution, *partition, device.steps);
  }
  if (!analysis.device_views.empty())
    summary.launching = launching_time(trace, analysis.steps, analysis.attribution);
  summary.findings = analysis.findings;
  for (Finding& finding : summary.findings) {
    for (Evidence& evidence : finding.evidence) evidence.event = {};
  }
  summary.doubts = analysis.doubts;
  return summary;
}

// Fields, each type once (see archive.h).
template <class A>
void archive(A& a, ClassTimes& times) {
  for (DurationNs& time : times.of) a(time.ns);
}
template <class A>
void archive(A& a, CollectiveGroup& g) {
  a(g.communicator, g.kind);
}
template <class A>
void archive(A& a, RankCollective& c) {
  a(c.group, c.sequence, c.step, c.launch.ns, c.time.begin.ns, c.time.end.ns, c.bytes, c.ranks,
    c.peer, c.on_host, c.op);
}
template <class A>
void archive(A& a, Collectives& c) {
  a(c.groups, c.rows, c.named);
}
template <class A>
void archive(A& a, RankStep& s) {
  a(s.number, s.steady, s.time.begin.ns, s.time.end.ns, s.times, s.work, s.forward.ns,
    s.backward.ns);
}
template <class A>
void archive(A& a, Exposure& e) {
  a(e.collective, e.step, e.time.begin.ns, e.time.end.ns);
}
template <class A>
void archive(A& a, DeviceView& v) {
  a(v.device.value, v.span.ns, v.compute.ns, v.exposed_comm.ns, v.exposed_copy.ns, v.idle.ns,
    v.comm.ns, v.overlap.ns, v.kernels, v.copies, v.memsets);
}
template <class A>
void archive(A& a, RankDevice& d) {
  a(d.ordinal, d.name, d.on_host, d.thread, d.view, d.steps, d.per_steady_step, d.hidden_comm.ns,
    d.hidden_h2d.ns, d.steady_steps, d.exposures);
}
template <class A>
void archive(A& a, Evidence& e) {
  a(e.where.begin.ns, e.where.end.ns, e.note);
}
template <class A>
void archive(A& a, Advice& x) {
  a(x.framework, x.text, x.knob, x.current);
}
template <class A>
void archive(A& a, Finding& f) {
  std::string rule(f.rule);
  a(rule, f.status, f.claim, f.sub_cause, f.recoverable_per_step.ns, f.exposed_per_step.ns,
    f.share_of_step, f.confidence, f.evidence, f.advice);
  for (const Rule* known : all_rules()) {
    if (known->id == rule) f.rule = known->id, f.title = known->title;
  }
}
template <class A>
void archive(A& a, Doubt& d) {
  a(d.severity, d.text);
}
template <class A>
void archive(A& a, RankSummary& s) {
  a(s.identity.rank, s.identity.source, s.file, s.process, s.host, s.world_size, s.start_utc_ns,
    s.events, s.step_source, s.median_step.ns, s.step.ns, s.launching.ns, s.work_measure, s.devices,
    s.collectives, s.findings, s.doubts);
}

std::string to_bytes(RankSummary& summary) {
  ByteWriter writer;
  writer(summary);
  return writer.take();
}

RankSummary rank_summary_from(std::string_view bytes) {
  RankSummary summary;
  ByteReader reader(bytes);
  reader(summary);
  if (!reader.at_end()) fail_internal("a rank's summary is longer than its fields");
  return summary;
}

}  // namespace headway::analyzer
