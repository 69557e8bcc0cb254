// SPDX-License-Identifier: MIT
#pragma once

#include "trace/import/kineto/document.h"
#include "trace/import/kineto/part.h"
#include "trace/load/assembly.h"

namespace headway::trace::kineto {

/// State that the steps after reading share.
struct Merged {
  explicit Merged(load_detail::Assembly& target) : assembly(target) {}

  load_detail::Assembly& assembly;
  std::int64_t zero = 0;      ///< time in the file at the trace's time zero
  std::int64_t earliest = 0;  ///< events outside [earliest, latest] are set aside
  std::int64_t latest = 0;
  ProcessId main_process;                                       ///< the process that was recorded
  std::map<std::pair<bool, std::string>, ProcessId> processes;  ///< by (is text, pid)
  std::map<std::tuple<ProcessId, bool, std::string, bool>, ThreadId> threads;
  std::vector<CollectiveRow> collectives;  ///< its texts are ids of the trace
  std::vector<PythonCall> python;
  std::vector<SyncRow> syncs;
  /// One end of a flow; the id joins the two ends.
  struct Flow {
    std::uint64_t id;  ///< the same at both ends
    ThreadId thread;
    TimeNs time;
    bool begins;        ///< true: the flow starts here
    StreamName stream;  ///< its stream, if its track is a device's
  };
  std::vector<Flow> autograd_flows;
  std::vector<Flow> launch_flows;
  std::int64_t ops_without_correlation = 0;

  // Taken from the carrier columns once the tables are sorted (take_carried()).
  std::vector<std::pair<RangeId, PythonCall>> python_of_range;
  std::vector<std::pair<RangeId, std::uint32_t>> collective_of_range;  ///< row of `collectives`
  std::vector<std::pair<DeviceOpId, std::uint32_t>> collective_of_op;  ///< ascending
};

/// Puts the parts' rows into the trace, unsorted, with the trace's ids. The carrier columns (see
/// Part) keep their meaning; their indexes now refer to Merged.
void merge_parts(Merged& merged, std::vector<Part>& parts);

/// Applies the values beside the events: devices, ranks, process groups, start time and others.
void apply_header(Merged& merged, const Header& header);

/// Moves the content of the carrier columns of the sorted tables into Merged.
void take_carried(Merged& merged);

// Joins over the sorted, nested tables.
void join_syncs(Merged& merged);           ///< cuda_sync rows -> Calls::sync_id, stream
void join_launch_flows(Merged& merged);    ///< before link(): correlation where args lack it
void join_autograd_flows(Merged& merged);  ///< RangeInfo::sequence of forward and backward
void join_python(Merged& merged);          ///< parents that containment misses by rounding
void join_collectives(Merged& merged);     ///< after link(): Trace::collectives

}  // namespace headway::trace::kineto
