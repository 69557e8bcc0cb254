// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/graph/program_order.h"

// The groups of edges, one file each. What a group needs from another group is an argument.
namespace headway::analyzer {

struct NewEdge {
  PointId from;
  PointId to;
  EdgeKind kind;
  bool inferred;
};

/// Collects edges. An edge that would run backwards in the order of points contradicts the schedule
/// and is left out. It is counted if it is recorded, and ignored if it was only concluded.
class EdgeSink {
 public:
  explicit EdgeSink(const Points& of) : points(of) {}

  /// True when the edge was taken.
  bool add(PointId from, PointId to, EdgeKind kind, bool inferred) {
    if (!points.before(from, to)) {
      if (!inferred) ++contradicted[static_cast<std::size_t>(kind)];
      return false;
    }
    edges.push_back({from, to, kind, inferred});
    return true;
  }

  const Points& points;
  std::vector<NewEdge> edges;
  std::array<std::int64_t, kEdgeKindCount> contradicted{};
};

/// Runs of points, each in the order of points.
struct SortedRuns {
  std::vector<PointId> points;
  std::vector<std::size_t> ends;  ///< where each run ends
};
/// All points of all runs in the order of points.
std::vector<PointId> merge_runs(const Points& points, const SortedRuns& runs);

/// D1: threads. `blocked` holds points before which their thread slept until another one handed
/// over. Returns every point of every thread, one sorted run a thread, and fills `nested`.
void add_thread_order(const std::vector<bool>& blocked, EdgeSink& sink, SortedRuns& runs,
                      std::vector<std::uint8_t>& nested);
/// D2: streams. Appends the runs of all streams.
void add_stream_order(EdgeSink& sink, SortedRuns& runs);
/// D3 and D8: launches of kernels, copies and CUDA graphs.
void add_launches(EdgeSink& sink);
/// D4: streams that wait for events, by the recording's ids; without ids by the order of calls.
void add_event_waits(const ProgramOrder& program, EdgeSink& sink);
/// D5 and D14: calls that return after device work.
void add_host_syncs(const ProgramOrder& program, EdgeSink& sink);
/// D6: launches and event calls that blocked on the full queue of a stream. `known`: edges by which ops
/// wait for other streams.
void add_full_queues(std::span<const NewEdge> known, EdgeSink& sink);
/// D7, and waits between streams that were not recorded: an op starts late, just when an op of
/// another stream ends. `known`: edges to device ops that explain a start already.
void add_unrecorded_waits(const Calibration& calibration, std::span<const NewEdge> known,
                          EdgeSink& sink);
/// D9: calls of several threads that overlap and finish one after the other.
void add_driver_locks(EdgeSink& sink);
/// D10: loader workers and the thread that waits for their batches. Marks the points before which a
/// worker slept because the queue of made batches was full.
void add_batches(EdgeSink& sink, std::vector<bool>& blocked);
/// D10: threads that work for another one while it sleeps (autograd). Marks the points before which
/// a thread slept.
void add_hand_overs(EdgeSink& sink, std::vector<bool>& blocked);

/// D12: the same collective on several ranks of this trace.
struct Rendezvous {
  std::vector<trace::DeviceOpId> ops;  ///< one a rank
  TimeNs last_start;
  bool inferred = false;  ///< matched by order, not by sequence number
};
/// Groups whose times contradict each other (an end before the last start) are left out and counted.
std::vector<Rendezvous> find_rendezvous(const trace::Trace& trace, std::int64_t& contradicted);
/// D12 and D13.
void add_collectives(std::span<const Rendezvous> groups, EdgeSink& sink);

/// Ranges that are tasks: batches being made and waits for them. In a run without a device also its steps, because their
/// thread may have no other points between which its work can be replayed.
std::vector<trace::RangeId> task_ranges(const trace::Trace& trace);

}  // namespace headway::analyzer
