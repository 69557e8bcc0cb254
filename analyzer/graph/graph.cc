// SPDX-License-Identifier: MIT
#include "analyzer/graph/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/graph/edges.h"
#include "common/error.h"

namespace headway::analyzer {
namespace {

using namespace trace;

bool keeps_end_waiting(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kHostSync:
    case EdgeKind::kQueueFull:
    case EdgeKind::kDriverLock:
    case EdgeKind::kBatch:
    case EdgeKind::kTransfer:
      return true;
    default:
      return false;
  }
}

/// Cost of a blocking call that does not wait, for names whose calls always waited.
constexpr DurationNs kBlockingCallBase{5'000};
// A blocked thread is woken in 2-10 µs when it spins, in 20-50 µs when it sleeps.
constexpr DurationNs kSync{5'000};
constexpr DurationNs kBatch{20'000};

/// By call: true for a wait for an event from before the recording or the replayed stretch. How long such a call has to wait
/// is unknown.
std::vector<bool> waits_for_earlier_events(const Trace& trace) {
  const Calls& calls = trace.calls;
  auto event = [&](std::size_t call) {  // ranks use the same numbers
    return std::pair(trace.threads[calls.thread[call].value].process, calls.sync_id[call]);
  };
  std::set<std::pair<ProcessId, std::uint64_t>> recorded;
  std::vector<bool> earlier(calls.size());
  for (std::size_t c = 0; c < calls.size(); ++c) {
    if (calls.sync_id[c] == 0) continue;
    if (calls.kind[c] == DeviceCallKind::kEventRecord) recorded.insert(event(c));
    if (calls.kind[c] == DeviceCallKind::kEventSynchronize)
      earlier[c] = !recorded.contains(event(c));
  }
  return earlier;
}

/// By process: the start of the last op of the recording or of the replayed stretch.
std::vector<TimeNs> last_starts_of_ops(const Trace& trace) {
  std::vector<TimeNs> last(trace.processes.size(), TimeNs::min());
  for (std::uint32_t op = 0; op < trace.device_ops.size(); ++op) {
    const ProcessId process = trace.streams[trace.device_ops.stream[op].value].process;
    if (process.value < last.size())
      last[process.value] = std::max(last[process.value], trace.device_ops.start[op]);
  }
  return last;
}

/// Median duration, by name, of the calls that did not wait; only for names with calls that may wait. Skips a thread's
/// calls before its first one with an edge, and those that end after the last op has begun: what they waited for may lie
/// before or after the recording or the replayed stretch.
void find_base_of_names(const Points& points, std::span<const NewEdge> edges,
                        Calibration& calibration) {
  const Calls& calls = points.trace().calls;
  std::vector<bool> waited(calls.size());
  std::vector<bool> linked(calls.size());
  std::vector<bool> wanted(points.trace().strings.size());
  for (const NewEdge& edge : edges) {
    CallId call = points.call_of(task_of(edge.to));
    if (!keeps_end_waiting(edge.kind) || !call.valid()) continue;
    wanted[calls.name[call.value].value] = true;
    linked[call.value] = true;
    if (points.time(edge.from) > calls.start[call.value]) waited[call.value] = true;
  }
  std::vector<DurationNs>& base = calibration.base_of_name;
  base.assign(wanted.size(), calibration.blocking_call.p50);
  std::vector<std::vector<std::int64_t>> samples(wanted.size());
  std::vector<bool> begun(points.trace().threads.size());
  const std::vector<bool> earlier = waits_for_earlier_events(points.trace());
  const std::vector<TimeNs> last_start = last_starts_of_ops(points.trace());
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const std::size_t thread = calls.thread[c].value;
    begun[thread] = begun[thread] || linked[c];
    const ProcessId process = points.trace().threads[thread].process;
    const bool over = process.value < last_start.size() && calls.end[c] > last_start[process.value];
    if (wanted[calls.name[c].value] && !waited[c] && begun[thread] && !earlier[c] && !over)
      samples[calls.name[c].value].push_back((calls.end[c] - calls.start[c]).ns);
  }
  for (std::size_t name = 0; name < samples.size(); ++name) {
    if (samples[name].empty()) {
      calibration.blocking_call_used |= wanted[name];
      continue;
    }
    auto middle = samples[name].begin() + static_cast<std::ptrdiff_t>(samples[name].size() / 2);
    std::nth_element(samples[name].begin(), middle, samples[name].end());
    base[name] = {*middle};
  }
}

/// A batch that was ready when it was asked for.
struct Ready {
  DurationNs since;  ///< from the end of making it to the begin of the wait
  DurationNs taken;
};

/// The time to receive and map a batch that was ready is the minimum of a hand-over. A batch made just before may still be
/// in transit, so only batches made at least a hand-over before the wait show what receiving alone takes.
void calibrate_ready_batches(const std::vector<Ready>& ready, std::optional<DurationNs> assumed,
                             Calibration& calibration) {
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> arrived;
  for (const Ready& one : ready) {
    all.push_back(one.taken.ns);
    if (one.since >= calibration.batch.p50) arrived.push_back(one.taken.ns);
  }
  const Delay taken = delay_of(all, Delay{});
  if (taken.samples > 0 && taken.p50 > calibration.batch.p50) calibration.batch = taken;
  Delay otherwise = calibration.batch;
  if (assumed && *assumed < otherwise.p50)
    otherwise = {*assumed, *assumed, *assumed, 0, 0, FactOrigin::kDefault, "default"};
  calibration.ready_batch = delay_of(arrived, otherwise);
}

/// Calibrates the wake-up delay ρ and the batch hand-over from edges that kept their task waiting.
void calibrate_waits(const Points& points, std::span<const NewEdge> edges,
                     const MachineFacts& machine, std::optional<DurationNs> ready_batch,
                     Calibration& calibration) {
  const Trace& trace = points.trace();
  std::vector<std::vector<std::int64_t>> sync(trace.devices.size());
  std::vector<std::vector<std::int64_t>> free(trace.devices.size());
  std::vector<std::int64_t> batch;
  std::vector<Ready> ready;
  for (const NewEdge& edge : edges) {
    if (edge.kind != EdgeKind::kHostSync && edge.kind != EdgeKind::kBatch) continue;
    TimeNs released = points.time(edge.from);
    const Interval waits = points.interval(task_of(edge.to));
    if (released <= waits.begin) {
      if (edge.kind == EdgeKind::kBatch) ready.push_back({waits.begin - released, waits.length()});
      continue;
    }
    std::int64_t delay = (points.time(edge.to) - released).ns;
    if (edge.kind == EdgeKind::kBatch) {
      batch.push_back(delay);
    } else {
      DeviceOpId op = points.op_of(task_of(edge.from));
      auto& samples = points.frees(task_of(edge.to)) ? free : sync;
      samples[trace.streams[trace.device_ops.stream[op.value].value].device.value].push_back(delay);
    }
  }
  std::optional<MachineFact> idle_sync;
  for (std::size_t d = 0; d < sync.size(); ++d) {
    const Device& device = trace.devices[d];
    const bool cuda = device.type == DeviceType::kCuda;
    calibration.devices[d].sync =
        delay_of(sync[d], delay_of(cuda ? machine.of(device, MachineFigure::kSync)
                                        : machine.of_host(trace, MachineFigure::kWakeUp),
                                   kSync));
    calibration.devices[d].free = delay_of(free[d], calibration.devices[d].sync);
    if (cuda && !idle_sync) idle_sync = machine.of(device, MachineFigure::kIdleSync);
  }
  calibration.batch =
      delay_of(batch, delay_of(machine.of_host(trace, MachineFigure::kWakeUp), kBatch));
  calibrate_ready_batches(ready, ready_batch, calibration);
  calibration.blocking_call = delay_of(idle_sync, kBlockingCallBase);
}

}  // namespace

DependencyGraph::DependencyGraph(const Trace& trace, const MachineFacts& machine,
                                 std::optional<DurationNs> ready_batch)
    : points_(trace, {}, {}), calibration_(calibrate_device_delays(trace, machine)) {
  std::int64_t unmatched = 0;
  std::vector<Rendezvous> groups = find_rendezvous(trace, unmatched);
  std::vector<TimeNs> rendezvous;
  for (const Rendezvous& group : groups) rendezvous.push_back(group.last_start);
  points_ = Points(trace, task_ranges(trace), std::move(rendezvous));
  ProgramOrder program(trace);
  EdgeSink sink(points_);
  sink.edges.reserve(points_.task_count() * 3 / 2);
  add_event_waits(program, sink);
  add_collectives(groups, sink);
  std::vector<NewEdge> known = sink.edges;
  add_unrecorded_waits(calibration_, known, sink);
  add_launches(sink);
  add_host_syncs(program, sink);
  add_full_queues(known, sink);
  add_driver_locks(sink);
  std::vector<bool> blocked(points_.size());
  add_batches(sink, blocked);
  add_hand_overs(sink, blocked);
  flags_.assign(points_.task_count(), 0);
  SortedRuns runs;
  runs.points.reserve(points_.size());
  add_thread_order(blocked, sink, runs, flags_);
  add_stream_order(sink, runs);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    runs.points.push_back(start_of(points_.rendezvous_task(g)));
    runs.points.push_back(end_of(points_.rendezvous_task(g)));
    runs.ends.push_back(runs.points.size());
  }
  sink.contradicted[static_cast<std::size_t>(EdgeKind::kTransfer)] += unmatched;
  for (std::size_t k = 0; k < kEdgeKindCount; ++k) counts_[k].contradicted = sink.contradicted[k];
  order_ = merge_runs(points_, runs);
  calibrate_waits(points_, sink.edges, machine, ready_batch, calibration_);
  find_base_of_names(points_, sink.edges, calibration_);
  build_edges(std::move(sink.edges));
}

/// Groups the edges by the point they lead to (counting sort).
void DependencyGraph::build_edges(std::vector<NewEdge> edges) {
  offset_.assign(points_.size() + 1, 0);
  for (const NewEdge& edge : edges) {
    HEADWAY_INVARIANT(points_.before(edge.from, edge.to));
    EdgeCount& count = counts_[static_cast<std::size_t>(edge.kind)];
    ++count.edges;
    count.inferred += edge.inferred;
    ++offset_[edge.to.value + 1];
    const TaskId task = task_of(edge.to);
    // A free that found the device idle did not wait: its duration is its own.
    const bool was_over =
        points_.frees(task) && points_.time(edge.from) <= points_.interval(task).begin;
    if (keeps_end_waiting(edge.kind) && !was_over) flags_[task.value] |= kWaiting;
  }
  for (std::size_t p = 1; p < offset_.size(); ++p) offset_[p] += offset_[p - 1];
  edges_.resize(edges.size());
  std::vector<std::uint32_t> next(offset_.begin(), offset_.end() - 1);
  for (const NewEdge& edge : edges)
    edges_[next[edge.to.value]++] = {edge.from, edge.kind, edge.inferred};
}

DurationNs DependencyGraph::base(TaskId task) const {
  Interval interval = points_.interval(task);
  DurationNs recorded = interval.end - interval.begin;
  if (!is_waiting(task)) return recorded;
  if (CallId call = points_.call_of(task); call.valid()) {
    StringId name = trace().calls.name[call.value];
    return std::min(recorded, calibration_.base_of_name[name.value]);
  }
  if (points_.range_of(task).valid()) {
    // If the batch was ready, the wait consists of receiving it.
    const bool was_there = std::ranges::any_of(edges_to(end_of(task)), [&](const Edge& edge) {
      return edge.kind == EdgeKind::kBatch && points_.time(edge.from) <= interval.begin;
    });
    return was_there ? recorded
                     : std::min({recorded, calibration_.batch.p50, calibration_.ready_batch.p50});
  }
  return {0};  // a collective: the edge from the rendezvous carries its transfer time
}

DurationNs DependencyGraph::lag(const Edge& edge, PointId to) const {
  auto device = [&](PointId point) {
    DeviceOpId op = points_.op_of(task_of(point));
    return trace().streams[trace().device_ops.stream[op.value].value].device;
  };
  DurationNs recorded = points_.time(to) - points_.time(edge.from);
  auto at_most = [&](DurationNs lag) { return std::min(lag, recorded); };
  switch (edge.kind) {
    case EdgeKind::kThreadOrder:
      // Inside a waiting call, the time before its end is the wait itself.
      return !is_start(to) && is_waiting(task_of(to)) ? DurationNs{0} : recorded;
    case EdgeKind::kHandOver:
    case EdgeKind::kDuration:
      return recorded;
    case EdgeKind::kTransfer:
      return recorded;
    case EdgeKind::kStreamOrder:
      return is_start(edge.from) ? DurationNs{0} : at_most(calibration_.stream(device(to)));
    case EdgeKind::kEventWait:
    case EdgeKind::kDefaultStream:
    case EdgeKind::kCollectiveOrder:
      return at_most(calibration_.stream(device(to)));
    case EdgeKind::kLaunch:
      return at_most(calibration_.launch(device(to)));
    case EdgeKind::kGraphLaunch:
      return at_most(calibration_.graph_launch(device(to)));
    case EdgeKind::kHostSync:
      return at_most(points_.frees(task_of(to)) ? calibration_.free(device(edge.from))
                                                : calibration_.sync(device(edge.from)));
    case EdgeKind::kBatch:
      return at_most(calibration_.batch.p50);
    case EdgeKind::kThreadBlocked:
    case EdgeKind::kQueueFull:
    case EdgeKind::kDriverLock:
    case EdgeKind::kBatchSlot:
    case EdgeKind::kRendezvous:
    case EdgeKind::kCount_:
      return {0};
  }
  return {0};
}

Binding binding_of(const DependencyGraph& graph, PointId point) {
  Binding best;
  TimeNs best_arrival = TimeNs::min();
  auto consider = [&](PointId from, DurationNs lag, EdgeKind kind, bool inferred) {
    TimeNs arrival = graph.points().time(from) + lag;
    bool later = arrival != best_arrival
                     ? arrival > best_arrival
                     : best.from.valid() && graph.points().before(best.from, from);
    if (best.from.valid() && !later) return;
    best = {from, kind, inferred};
    best_arrival = arrival;
  };
  TaskId task = task_of(point);
  if (!is_start(point) && !graph.is_nested(task))
    consider(start_of(task), graph.base(task), EdgeKind::kDuration, false);
  for (const Edge& edge : graph.edges_to(point))
    consider(edge.from, graph.lag(edge, point), edge.kind, edge.inferred);
  return best;
}

}  // namespace headway::analyzer
