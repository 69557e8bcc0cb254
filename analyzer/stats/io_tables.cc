// SPDX-License-Identifier: MIT
// Tables over calls on files: by folder, by file, by thread.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/stats/labels.h"
#include "analyzer/stats/steady_stretch.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::string_view kOps[] = {"", "open", "close", "read", "write", "sync", "map"};

std::string op_label(std::uint64_t op) {
  return std::string(op < std::size(kOps) ? kOps[op] : "");
}

/// A group of calls: its sums and its latencies.
struct CallSum {
  std::int64_t calls = 0;
  std::int64_t busy = 0;
  std::int64_t bytes = 0;
  std::int64_t errors = 0;
  std::int64_t p90 = 0;      ///< of the calls; a summed row counts as calls of its mean
  std::int64_t longest = 0;  ///< of rows of one call, else of the mean
};

/// Sums rows by group number; 24 bytes a row and one sort.
class CallSums {
 public:
  void add(std::uint32_t group, const Io& io, std::uint32_t row) {
    if (group >= sums_.size()) sums_.resize(group + 1);
    CallSum& sum = sums_[group];
    std::int64_t latency = io.busy[row].ns / io.calls[row];
    sum.calls += io.calls[row];
    sum.busy += io.busy[row].ns;
    sum.bytes += io.bytes[row];
    sum.errors += io.error[row] != 0 ? io.calls[row] : 0;
    sum.longest = std::max(sum.longest, latency);
    rows_.push_back({group, io.calls[row], latency});
  }
  std::vector<CallSum> finish() {
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return a.group != b.group ? a.group < b.group : a.latency < b.latency;
    });
    for (std::size_t i = 0; i < rows_.size();) {
      CallSum& sum = sums_[rows_[i].group];
      // The first latency that nine tenths of the calls do not exceed.
      std::int64_t left = (sum.calls * 9 + 9) / 10;
      std::size_t begin = i;
      for (; i < rows_.size() && rows_[i].group == rows_[begin].group; ++i) {
        if (left > 0) sum.p90 = rows_[i].latency;
        left -= rows_[i].calls;
      }
    }
    rows_ = {};
    return std::move(sums_);
  }

 private:
  struct Row {
    std::uint32_t group;
    std::uint32_t calls;
    std::int64_t latency;
  };
  std::vector<CallSum> sums_;
  std::vector<Row> rows_;
};

std::vector<Column> columns_after(std::vector<Column> first) {
  for (Column column : {Column{"calls", "Calls", ColumnKind::kCount},
                        Column{"total_ns", "Total", ColumnKind::kDuration},
                        Column{"mean_ns", "Mean", ColumnKind::kDuration},
                        Column{"p90_ns", "p90", ColumnKind::kDuration},
                        Column{"max_ns", "Largest", ColumnKind::kDuration},
                        Column{"bytes", "Bytes", ColumnKind::kBytes},
                        Column{"bytes_per_s", "Rate", ColumnKind::kByteRate},
                        Column{"errors", "Errors", ColumnKind::kCount}})
    first.push_back(std::move(column));
  return first;
}

void add_cells(std::vector<Cell>& row, const CallSum& sum, bool moves_bytes) {
  row.insert(row.end(), {sum.calls, sum.busy, sum.calls ? sum.busy / sum.calls : 0, sum.p90,
                         sum.longest, moves_bytes ? Cell(sum.bytes) : Cell(),
                         moves_bytes ? rate_cell(sum.bytes, sum.busy) : Cell(),
                         sum.errors ? Cell(sum.errors) : Cell()});
}

/// Opening and closing move nothing; mapping reads nothing yet.
bool moves_bytes(std::uint64_t op) {
  return op == static_cast<std::uint64_t>(IoOp::kRead) ||
         op == static_cast<std::uint64_t>(IoOp::kWrite);
}

std::string file_of(std::string_view path) {
  return std::string(path);
}

std::string folder_of(std::string_view path) {
  std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

/// Groups by the label that `label_of` gives the path, and by kind of call.
struct PathGroups {
  PathGroups(const Trace& trace, std::string (*label_of)(std::string_view))
      : io(trace.io), names(trace.strings, label_of) {
    CallSums gathering;
    for (std::uint32_t i = 0; i < io.size(); ++i) {
      std::uint64_t path = io.path[i].valid() ? names.of(io.path[i]) + std::uint64_t{1} : 0;
      std::uint32_t group = keys.of(path << 8 | static_cast<std::uint64_t>(io.op[i]));
      gathering.add(group, io, i);
      pairs.push_back(std::uint64_t{group} << 32 | io.path[i].value);
    }
    sums = gathering.finish();
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    files.assign(sums.size(), 0);
    for (std::uint64_t pair : pairs) ++files[pair >> 32];
    pairs = {};
  }
  std::string label(std::uint32_t group) const {
    std::uint64_t path = keys.keys()[group] >> 8;
    return path == 0 ? "(not known)" : names.label(static_cast<std::uint32_t>(path - 1));
  }
  std::uint64_t op(std::uint32_t group) const { return keys.keys()[group] & 0xff; }

  const Io& io;
  NameGroups names;
  KeyGroups keys;
  std::vector<std::uint64_t> pairs;  ///< group and path
  std::vector<std::int64_t> files;   ///< distinct paths of each group
  std::vector<CallSum> sums;
};

std::string label_of_thread(const Trace& trace, ThreadId id) {
  const Thread& thread = trace.threads[id.value];
  const Process& process = trace.processes[thread.process.value];
  std::string name = thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name;
  return trace.processes.size() > 1 ? fmt::format("{} of {} {}", name, process.name, process.pid)
                                    : name;
}

}  // namespace

Table io_table(const Trace& trace, const Analysis&) {
  PathGroups groups(trace, folder_of);
  Table table{"io",
              "Calls on files by folder",
              "All calls of all threads, recorded with `headway record --io`. Threads wait in "
              "parallel, so times may add up to more than the recording.",
              columns_after({{"folder", "Folder", ColumnKind::kText},
                             {"op", "Op", ColumnKind::kText},
                             {"files", "Files", ColumnKind::kCount}}),
              {}};
  for (std::uint32_t group = 0; group < groups.sums.size(); ++group) {
    std::vector<Cell>& row = table.rows.emplace_back(
        std::vector<Cell>{groups.label(group), op_label(groups.op(group)), groups.files[group]});
    add_cells(row, groups.sums[group], moves_bytes(groups.op(group)));
  }
  sort_by(table, 4);
  return table;
}

Table io_file_table(const Trace& trace, const Analysis&) {
  PathGroups groups(trace, file_of);
  Table table{"io-files",
              "Calls on files by file",
              "Same scope as io. folder/* groups files of a folder beyond the name limit.",
              columns_after({{"file", "File", ColumnKind::kText}, {"op", "Op", ColumnKind::kText}}),
              {}};
  for (std::uint32_t group = 0; group < groups.sums.size(); ++group) {
    std::vector<Cell>& row =
        table.rows.emplace_back(std::vector<Cell>{groups.label(group), op_label(groups.op(group))});
    add_cells(row, groups.sums[group], moves_bytes(groups.op(group)));
  }
  sort_by(table, 3);
  return table;
}

Table io_thread_table(const Trace& trace, const Analysis& analysis) {
  SteadyStretch steady(trace, analysis.steps);
  Table table{
      "io-threads",
      "Calls on files by thread",
      steady.count ? "Over the steady steps; per step is the mean."
                   : "Over the whole trace, which has no steps.",
      columns_after({{"thread", "Thread", ColumnKind::kText}, {"op", "Op", ColumnKind::kText}}),
      {}};
  table.columns.push_back({"share", "Share", ColumnKind::kPercent});
  table.columns.push_back({"per_step_ns", "A step", ColumnKind::kDuration});
  table.columns.push_back({"per_step_bytes", "Bytes a step", ColumnKind::kBytes});
  CallSums gathering;
  KeyGroups keys;
  const Io& io = trace.io;
  for (std::uint32_t i = 0; i < io.size(); ++i) {
    if (!steady.window.contains(io.start[i])) continue;
    gathering.add(
        keys.of(std::uint64_t{io.thread[i].value} << 8 | static_cast<std::uint64_t>(io.op[i])), io,
        i);
  }
  std::vector<CallSum> sums = gathering.finish();
  for (std::uint32_t group = 0; group < sums.size(); ++group) {
    std::uint64_t key = keys.keys()[group];
    std::uint64_t op = key & 0xff;
    const CallSum& sum = sums[group];
    std::vector<Cell>& row = table.rows.emplace_back(std::vector<Cell>{
        label_of_thread(trace, ThreadId{static_cast<std::uint32_t>(key >> 8)}), op_label(op)});
    add_cells(row, sum, moves_bytes(op));
    row.push_back(ratio({sum.busy}, steady.window.length()));
    row.push_back(steady.count ? Cell(sum.busy / steady.count) : Cell());
    row.push_back(steady.count && moves_bytes(op) ? Cell(sum.bytes / steady.count) : Cell());
  }
  sort_by(table, 3);
  return table;
}

}  // namespace headway::analyzer
