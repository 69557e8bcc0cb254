// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/import/xplane/plane.h"
#include "trace/load/assembly.h"

namespace headway::trace::xplane {

/// The row of one op on a device.
struct OpRow {
  StringId name;
  StreamId stream;
  DeviceOpKind kind = DeviceOpKind::kKernel;
  std::uint32_t correlation = 0;  ///< of its call; 0: none
  std::int32_t graph_op = -1;     ///< row of the op table; -1: none
  Phase phase = Phase::kNone;
  MathUnit math_unit = MathUnit::kUnknown;
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind destination = MemoryKind::kUnknown;
  std::int64_t bytes = 0;           ///< moved; 0: not known
  std::int64_t flops = 0;           ///< 0: not known
  std::uint32_t blocks = 0;         ///< of the grid; 0: not known
  std::uint16_t block_threads = 0;  ///< 0: not known
};

/// The trace while its rows are added. Times are those of the file until finish().
class Building {
 public:
  Building(load_detail::Assembly& assembly, const Space& space);

  load_detail::Assembly& assembly;
  Trace& trace;
  const Space& space;
  ProcessId process;
  /// Steps that a device reports; used when the host reports none.
  struct DeviceStep {
    std::string thread;  ///< name of the device's row
    Interval when;
    std::int64_t number;  ///< as the profile counts
  };
  std::vector<DeviceStep> device_steps;
  bool accelerator = false;  ///< a GPU or TPU has work: ops on the host are not a device's

  /// Nanoseconds of an event; false (and counted) when no recording can have it.
  bool times(const Line& line, const Event& event, Interval& out);

  /// A thread of the host, made when it is first named.
  ThreadId thread(std::int64_t id, std::string_view name);
  /// A thread that stands for a row of a device.
  ThreadId device_thread(const std::string& name);
  RangeInfo& add_range(ThreadId thread, Interval when, StringId name, DomainId domain,
                       bool with_info, std::uint8_t flags = 0);
  void add_call(ThreadId thread, Interval when, StringId name, DeviceCallKind kind,
                std::uint32_t correlation);
  void add_op(Interval when, const OpRow& op);
  /// A sample; the series is made when it is first named. `device` none: of the host.
  void add_counter(const std::string& name, std::optional<std::int32_t> device, std::int64_t time,
                   std::int64_t value);
  DomainId domain(std::string_view name);
  StringId string(std::string_view text) { return trace.strings.add(text); }
  /// The row of the op table for an op of a module. The module is part of its name where a trace has
  /// several.
  std::int32_t graph_op(std::string_view module, std::string_view name, std::string_view type,
                        Phase phase);
  /// Ids for calls that have none in the file.
  std::uint32_t next_correlation() { return ++last_correlation_; }
  /// The rank's part in a collective that the op of this row number carries out.
  void add_collective(std::string_view kind, std::int64_t bytes);

  /// Moves the trace's zero to the first event, sorts and joins.
  void finish();

 private:
  /// Keeps the earliest time, which becomes the trace's zero.
  void saw(Interval when);
  void name_graph_ops();
  void shift();
  void place_collectives(const std::vector<std::uint32_t>& order);

  std::int64_t earliest_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t latest_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();
  std::uint32_t last_correlation_ = 0;
  std::int64_t next_thread_ = 0xf00000;  ///< larger than any thread id of Linux
  std::map<std::pair<std::int64_t, std::string>, ThreadId> threads_;
  std::map<std::string, ThreadId, std::less<>> device_threads_;
  std::map<std::string, DomainId, std::less<>> domains_;
  std::map<std::pair<std::string, std::optional<std::int32_t>>, std::size_t> counters_;
  struct Known {
    std::string module;
    std::int32_t op;
  };
  std::unordered_map<std::string, Known> graph_ops_;  ///< by module and name
  std::map<std::string, bool, std::less<>> modules_;
  std::vector<std::string> module_of_;  ///< by graph op
  RangeInfo unused_;
};

/// Adds the rows of the host's planes. Call it after add_device_planes(), which finds out whether
/// there is an accelerator.
void add_host_planes(Building& building);
void add_device_planes(Building& building);

/// Finds the intervals of nested ops of one line that are not covered by an inner op, and calls
/// `out(index, interval)` for each. The input is sorted by start, longer first.
template <class Ops, class Out>
void own_times(const Ops& ops, Out out) {
  struct Open {
    std::size_t index;
    TimeNs at;  ///< its time up to here has been passed to `out`, or belongs to inner ops
  };
  std::vector<Open> open;
  auto close_until = [&](TimeNs time) {
    while (!open.empty() && ops[open.back().index].when.end <= time) {
      Open last = open.back();
      open.pop_back();
      TimeNs end = ops[last.index].when.end;
      bool leaf = last.at == ops[last.index].when.begin;
      if (leaf || last.at < end) out(last.index, Interval{last.at, end});
      if (!open.empty()) open.back().at = std::max(open.back().at, end);
    }
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    Interval when = ops[i].when;
    close_until(when.begin);
    // An op that overlaps the open one but ends after it does not lie inside it.
    while (!open.empty() && ops[open.back().index].when.end < when.end) {
      Open last = open.back();
      open.pop_back();
      TimeNs end = ops[last.index].when.end;
      out(last.index, Interval{last.at, end});
      if (!open.empty()) open.back().at = std::max(open.back().at, end);
    }
    if (!open.empty() && open.back().at < when.begin) {
      out(open.back().index, Interval{open.back().at, when.begin});
      open.back().at = when.begin;
    }
    open.push_back({i, when.begin});
  }
  close_until(TimeNs::max());
}

}  // namespace headway::trace::xplane
