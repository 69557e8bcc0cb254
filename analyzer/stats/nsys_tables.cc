// SPDX-License-Identifier: MIT
#include "analyzer/stats/nsys_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyzer/stats/labels.h"
#include "analyzer/stats/projection.h"
#include "analyzer/stats/summary.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr double kBytesPerMb = 1e6;
constexpr std::string_view kMegabytes = "(MB";

/// Values of one row of a summary. The figures are exact: a mean of integers with its fraction, the
/// mean of the two middle values as the median.
struct Values {
  std::vector<std::int64_t> all;
  std::int64_t total = 0;
  std::int64_t count = 0;  ///< size of `all`; more where rows are sums of calls
  bool each_known = true;  ///< false: some are known as a sum only

  void add(std::int64_t value) {
    all.push_back(value);
    total += value;
    ++count;
  }
  double mean() const {
    return count ? static_cast<double>(total) / static_cast<double>(count) : 0;
  }
  double median() const {
    std::size_t n = all.size();
    auto middle = static_cast<double>(all[n / 2]);
    return n % 2 ? middle : (middle + static_cast<double>(all[n / 2 - 1])) / 2;
  }
  double deviation() const {
    if (all.size() < 2) return 0;
    double sum = 0;
    for (std::int64_t value : all) {
      double off = static_cast<double>(value) - mean();
      sum += off * off;
    }
    return std::sqrt(sum / static_cast<double>(all.size() - 1));
  }
};

Column text_column(std::string_view label) {
  return {std::string(label), std::string(label), ColumnKind::kText};
}
Column number_column(std::string_view label) {
  return {std::string(label), std::string(label), ColumnKind::kRaw};
}

using Names = std::vector<std::string>;  ///< the last columns of a row

/// Rows with the same names, largest total first.
class Summary {
 public:
  Values& operator[](const Names& names) {
    auto [slot, is_new] = rows_.try_emplace(names);
    return slot->second;
  }

  /// Rows by total; shares are of all rows' totals.
  struct Row {
    const Names* names;
    Values* values;
    double percent;
  };
  std::vector<Row> finish() {
    std::int64_t all = 0;
    std::vector<Row> rows;
    for (auto& [names, values] : rows_) {
      std::sort(values.all.begin(), values.all.end());
      all += values.total;
      rows.push_back({&names, &values, 0});
    }
    for (Row& row : rows)
      row.percent =
          all ? 100.0 * static_cast<double>(row.values->total) / static_cast<double>(all) : 0;
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.values->total > b.values->total; });
    return rows;
  }

 private:
  std::map<Names, Values> rows_;
};

/// "Time (%)", "Total Time (ns)", `count`, "Avg (ns)", …, then the names.
Table time_table(std::string_view id, std::string_view title, std::string_view count,
                 std::initializer_list<std::string_view> names, Summary summary) {
  Table table{std::string(id), fmt::format("{} ({})", title, id), "", {}, {}};
  for (std::string_view label :
       {std::string_view("Time (%)"), std::string_view("Total Time (ns)"), count,
        std::string_view("Avg (ns)"), std::string_view("Med (ns)"), std::string_view("Min (ns)"),
        std::string_view("Max (ns)"), std::string_view("StdDev (ns)")})
    table.columns.push_back(number_column(label));
  for (std::string_view name : names) table.columns.push_back(text_column(name));
  for (const Summary::Row& row : summary.finish()) {
    const Values& v = *row.values;
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {row.percent, v.total, v.count, v.mean()};
    if (v.each_known) {
      cells.insert(cells.end(), {v.median(), v.all.front(), v.all.back(), v.deviation()});
    } else {
      cells.resize(cells.size() + 4);
    }
    for (const std::string& name : *row.names) cells.emplace_back(name);
  }
  return table;
}

std::string operation(DeviceOpKind kind) {
  switch (kind) {
    case DeviceOpKind::kCopyHostToDevice:
      return "[CUDA memcpy Host-to-Device]";
    case DeviceOpKind::kCopyDeviceToHost:
      return "[CUDA memcpy Device-to-Host]";
    case DeviceOpKind::kCopyDeviceToDevice:
      return "[CUDA memcpy Device-to-Device]";
    case DeviceOpKind::kCopyPeer:
      return "[CUDA memcpy Peer-to-Peer]";
    case DeviceOpKind::kCopyHostToHost:
      return "[CUDA memcpy Host-to-Host]";
    case DeviceOpKind::kMemset:
      return "[CUDA memset]";
    case DeviceOpKind::kKernel:
    case DeviceOpKind::kCommunication:
      break;
  }
  return "";
}

std::string op_name(const Trace& trace, std::uint32_t i) {
  std::string name = operation(trace.device_ops.kind[i]);
  return name.empty() ? std::string(trace.strings[trace.device_ops.name[i]]) : name;
}

template <class Each>
void for_each_op(const Trace& trace, const Selection& selection, Each each) {
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    if (selection.has(DeviceOpId{i}))
      each(i, is_copy_or_set(trace.device_ops.kind[i]), trace.device_ops.interval({i}).length().ns);
  }
}

/// Without the version that CUPTI's names of functions have: "cudaLaunchKernel_v7000".
std::string call_name(const Trace& trace, std::uint32_t i) {
  std::string_view name = trace.strings[trace.calls.name[i]];
  constexpr std::size_t kVersion = 6;
  bool versioned =
      name.size() > kVersion && name.substr(name.size() - kVersion, 2) == "_v" &&
      std::all_of(name.end() - 4, name.end(), [](char c) { return c >= '0' && c <= '9'; });
  return std::string(versioned ? name.substr(0, name.size() - kVersion) : name);
}

template <class Each>
void for_each_call(const Trace& trace, const Selection& selection, Each each) {
  for (std::uint32_t i = 0; i < trace.calls.size(); ++i) {
    if (selection.has(CallId{i})) each(call_name(trace, i), trace.calls.interval({i}).length().ns);
  }
}

Table kernel_sum(const Trace& trace, const Analysis&, const Selection& selection) {
  Summary summary;
  for_each_op(trace, selection, [&](std::uint32_t i, bool copy, std::int64_t ns) {
    if (!copy) summary[{op_name(trace, i)}].add(ns);
  });
  return time_table("cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", "Instances", {"Name"},
                    std::move(summary));
}

Table api_sum(const Trace& trace, const Analysis&, const Selection& selection) {
  Summary summary;
  for_each_call(trace, selection,
                [&](const std::string& name, std::int64_t ns) { summary[{name}].add(ns); });
  return time_table("cuda_api_sum", "CUDA API Summary", "Num Calls", {"Name"}, std::move(summary));
}

Table memory_time_sum(const Trace& trace, const Analysis&, const Selection& selection) {
  Summary summary;
  for_each_op(trace, selection, [&](std::uint32_t i, bool copy, std::int64_t ns) {
    if (copy) summary[{op_name(trace, i)}].add(ns);
  });
  return time_table("cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", "Count",
                    {"Operation"}, std::move(summary));
}

Table memory_size_sum(const Trace& trace, const Analysis&, const Selection& selection) {
  Summary summary;
  for_each_op(trace, selection, [&](std::uint32_t i, bool copy, std::int64_t) {
    if (copy) summary[{op_name(trace, i)}].add(trace.device_ops.bytes[i]);
  });
  Table table{"cuda_gpu_mem_size_sum",
              "CUDA GPU MemOps Summary (by Size) (cuda_gpu_mem_size_sum)",
              "",
              {},
              {}};
  for (const char* label :
       {"Total (MB)", "Count", "Avg (MB)", "Med (MB)", "Min (MB)", "Max (MB)", "StdDev (MB)"})
    table.columns.push_back(number_column(label));
  table.columns.push_back(text_column("Operation"));
  auto mb = [](auto bytes) { return static_cast<double>(bytes) / kBytesPerMb; };
  for (const Summary::Row& row : summary.finish()) {
    const Values& v = *row.values;
    table.rows.push_back({mb(v.total), v.count, mb(v.mean()), mb(v.median()), mb(v.all.front()),
                          mb(v.all.back()), mb(v.deviation()), row.names->front()});
  }
  return table;
}

void add_gpu(const Trace& trace, const Selection& selection, Summary& summary) {
  for_each_op(trace, selection, [&](std::uint32_t i, bool copy, std::int64_t ns) {
    summary[{copy ? "MEMORY_OPER" : "CUDA_KERNEL", op_name(trace, i)}].add(ns);
  });
}

Table gpu_sum(const Trace& trace, const Analysis&, const Selection& selection) {
  Summary summary;
  add_gpu(trace, selection, summary);
  return time_table("cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps)", "Instances",
                    {"Category", "Operation"}, std::move(summary));
}

Table api_gpu_sum(const Trace& trace, const Analysis&, const Selection& selection) {
  Summary summary;
  add_gpu(trace, selection, summary);
  for_each_call(trace, selection, [&](const std::string& name, std::int64_t ns) {
    summary[{"CUDA_API", name}].add(ns);
  });
  return time_table("cuda_api_gpu_sum", "CUDA Summary (API/Kernels/MemOps)", "Instances",
                    {"Category", "Operation"}, std::move(summary));
}

/// "domain:name"; the default domain has no name.
std::string range_name(const Trace& trace, std::uint32_t i) {
  std::size_t domain = trace.ranges.domain[i].value;
  return fmt::format("{}:{}", domain < trace.domains.size() ? trace.domains[domain] : "",
                     trace.strings[trace.ranges.name[i]]);
}

std::string style(const Trace& trace, std::uint32_t i) {
  return trace.ranges.is({i}, Ranges::kStartEnd) ? "StartEnd" : "PushPop";
}

template <class Each>
void for_each_range(const Trace& trace, const Selection& selection, Each each) {
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (!trace.ranges.is({i}, Ranges::kMark) && selection.has(RangeId{i})) each(i);
  }
}

Table range_sum(const Trace& trace, const Analysis&, const Selection& selection) {
  Summary summary;
  for_each_range(trace, selection, [&](std::uint32_t i) {
    summary[{style(trace, i), range_name(trace, i)}].add(trace.ranges.interval({i}).length().ns);
  });
  return time_table("nvtx_sum", "NVTX Range Summary", "Instances", {"Style", "Range"},
                    std::move(summary));
}

Table styled_range_sum(const Trace& trace, const Selection& selection, std::string_view id,
                       std::string_view title, std::string_view wanted) {
  Summary summary;
  for_each_range(trace, selection, [&](std::uint32_t i) {
    if (style(trace, i) == wanted)
      summary[{range_name(trace, i)}].add(trace.ranges.interval({i}).length().ns);
  });
  return time_table(id, title, "Instances", {"Range"}, std::move(summary));
}

Table pushpop_sum(const Trace& trace, const Analysis&, const Selection& selection) {
  return styled_range_sum(trace, selection, "nvtx_pushpop_sum", "NVTX Push/Pop Range Summary",
                          "PushPop");
}

Table startend_sum(const Trace& trace, const Analysis&, const Selection& selection) {
  return styled_range_sum(trace, selection, "nvtx_startend_sum", "NVTX Start/End Range Summary",
                          "StartEnd");
}

Table projection_sum(const Trace& trace, const Analysis& analysis, const Selection& selection) {
  struct Also {
    std::int64_t range_ns = 0;
    std::int64_t ops = 0;
    std::int64_t level = 0;
    std::int64_t children = 0;
  };
  RangeProjection projection = project_ranges(trace, analysis);
  std::vector<std::int64_t> children(trace.ranges.size());
  for (RangeId parent : trace.ranges.parent) {
    if (parent.valid()) ++children[parent.value];
  }
  Summary summary;
  std::map<Names, Also> more;
  for_each_range(trace, selection, [&](std::uint32_t i) {
    if (!projection.ops[i]) return;
    Names names{range_name(trace, i), style(trace, i)};
    summary[names].add((projection.last[i] - projection.first[i]).ns);
    Also& also = more[names];
    also.range_ns += trace.ranges.interval({i}).length().ns;
    also.ops += projection.ops[i];
    also.level += trace.ranges.depth[i];
    also.children += children[i];
  });
  Table table{"nvtx_gpu_proj_sum", "NVTX GPU Projection Summary (nvtx_gpu_proj_sum)", "", {}, {}};
  table.columns = {text_column("Range"), text_column("Style")};
  for (const char* label :
       {"Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances", "Proj Avg (ns)",
        "Proj Med (ns)", "Proj Min (ns)", "Proj Max (ns)", "Proj StdDev (ns)", "Total GPU Ops",
        "Avg GPU Ops", "Avg Range Lvl", "Avg Num Child"})
    table.columns.push_back(number_column(label));
  for (const Summary::Row& row : summary.finish()) {
    const Values& v = *row.values;
    const Also& also = more[*row.names];
    auto average = [&](std::int64_t sum) {
      return static_cast<double>(sum) / static_cast<double>(v.count);
    };
    table.rows.push_back({(*row.names)[0], (*row.names)[1], v.total, also.range_ns, v.count,
                          v.mean(), v.median(), v.all.front(), v.all.back(), v.deviation(),
                          also.ops, average(also.ops), average(also.level),
                          average(also.children)});
  }
  return table;
}

std::string memory_kind(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kPageable:
      return "Pageable";
    case MemoryKind::kPinned:
      return "Pinned";
    case MemoryKind::kDevice:
      return "Device";
    case MemoryKind::kManaged:
      return "Managed";
    case MemoryKind::kUnknown:
      break;
  }
  return "";
}

Table gpu_trace(const Trace& trace, const Analysis&, const Selection& selection) {
  Table table{"cuda_gpu_trace", "CUDA GPU Trace (cuda_gpu_trace)", "", {}, {}};
  for (const char* label :
       {"Start (ns)", "Duration (ns)", "CorrId", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ",
        "Reg/Trd", "StcSMem (MB)", "DymSMem (MB)", "Bytes (MB)", "Throughput (MB/s)"})
    table.columns.push_back(number_column(label));
  for (const char* label : {"SrcMemKd", "DstMemKd", "Device", "Ctx", "GreenCtx"})
    table.columns.push_back(text_column(label));
  table.columns.push_back(number_column("Strm"));
  table.columns.push_back(text_column("Name"));
  const DeviceOps& ops = trace.device_ops;
  for_each_op(trace, selection, [&](std::uint32_t i, bool copy, std::int64_t ns) {
    std::vector<Cell>& row = table.rows.emplace_back(table.columns.size());
    std::size_t column = 0;
    row[column++] = ops.start[i].ns;
    row[column++] = ns;
    if (CallId call = ops.call[i]; call.valid())
      row[column] = static_cast<std::int64_t>(trace.calls.correlation[call.value]);
    // Extents of a launch by axis, registers and shared memory are not kept.
    column += 10;
    if (copy && ops.bytes[i] > 0) {
      double megabytes = static_cast<double>(ops.bytes[i]) / kBytesPerMb;
      row[column] = megabytes;
      if (ns > 0) row[column + 1] = megabytes / (static_cast<double>(ns) / 1e9);
    }
    column += 2;
    row[column++] = memory_kind(ops.source_memory[i]);
    row[column++] = memory_kind(ops.destination_memory[i]);
    const Stream& stream = trace.streams[ops.stream[i].value];
    const Device& device = trace.devices[stream.device.value];
    row[column++] = fmt::format("{} ({})", device.name, device.ordinal);
    column += 2;
    row[column++] = static_cast<std::int64_t>(stream.ordinal);
    row[column] = op_name(trace, i);
  });
  return table;
}

Table api_trace(const Trace& trace, const Analysis&, const Selection& selection) {
  Table table{"cuda_api_trace", "CUDA API Trace (cuda_api_trace)", "", {}, {}};
  table.columns = {
      number_column("Start (ns)"), number_column("Duration (ns)"), text_column("Name"),
      number_column("Result"),     number_column("CorrID"),        number_column("Pid"),
      number_column("Tid"),        number_column("T-Pri"),         text_column("Thread Name")};
  for (std::uint32_t i = 0; i < trace.calls.size(); ++i) {
    if (!selection.has(CallId{i})) continue;
    const Thread& thread = trace.threads[trace.calls.thread[i].value];
    std::int64_t correlation = static_cast<std::int64_t>(trace.calls.correlation[i]);
    table.rows.push_back({trace.calls.start[i].ns, trace.calls.interval({i}).length().ns,
                          call_name(trace, i), Cell(), correlation ? Cell(correlation) : Cell(),
                          static_cast<std::int64_t>(trace.processes[thread.process.value].pid),
                          static_cast<std::int64_t>(thread.tid), Cell(), thread.name});
  }
  return table;
}

/// Of the operating system's calls, only those on files are recorded.
Table os_sum(const Trace& trace, const Analysis&) {
  Summary summary;
  for (std::uint32_t i = 0; i < trace.io.size(); ++i) {
    Values& values = summary[{std::string(trace.strings[trace.io.name[i]])}];
    std::int64_t calls = trace.io.calls[i];
    values.all.push_back(trace.io.busy[i].ns / std::max<std::int64_t>(calls, 1));
    values.total += trace.io.busy[i].ns;
    values.count += calls;
    values.each_known = values.each_known && calls == 1;
  }
  return time_table("osrt_sum", "OS Runtime Summary", "Num Calls", {"Name"}, std::move(summary));
}

}  // namespace

std::span<const TableDeclaration> nsys_table_declarations() {
  static constexpr auto kTables = std::to_array<TableDeclaration>({
      {"cuda_api_gpu_sum", "Calls, kernels and memory operations in one table.", api_gpu_sum},
      {"cuda_api_sum", "API calls.", api_sum},
      {"cuda_api_trace", "Each API call.", api_trace},
      {"cuda_gpu_kern_sum", "Kernels.", kernel_sum},
      {"cuda_gpu_mem_size_sum", "Copies and sets by size.", memory_size_sum},
      {"cuda_gpu_mem_time_sum", "Copies and sets by time.", memory_time_sum},
      {"cuda_gpu_sum", "Kernels and memory operations in one table.", gpu_sum},
      {"cuda_gpu_trace", "Each kernel, copy and set.", gpu_trace},
      {"nvtx_gpu_proj_sum", "Ranges projected onto the devices.", projection_sum},
      {"nvtx_pushpop_sum", "Push/pop ranges.", pushpop_sum},
      {"nvtx_startend_sum", "Start/end ranges.", startend_sum},
      {"nvtx_sum", "All ranges.", range_sum},
      {"osrt_sum", "Calls on files (`headway record --io`).", os_sum},
  });
  return kTables;
}

std::string_view nsys_table_name(std::string_view name) {
  static constexpr auto kOld = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"apigpusum", "cuda_api_gpu_sum"},
      {"cudaapisum", "cuda_api_sum"},
      {"cudaapitrace", "cuda_api_trace"},
      {"gpukernsum", "cuda_gpu_kern_sum"},
      {"gpumemsizesum", "cuda_gpu_mem_size_sum"},
      {"gpumemtimesum", "cuda_gpu_mem_time_sum"},
      {"gpusum", "cuda_gpu_sum"},
      {"gputrace", "cuda_gpu_trace"},
      {"nvtxgpuproj", "nvtx_gpu_proj_sum"},
      {"nvtxppsum", "nvtx_pushpop_sum"},
      {"nvtxsesum", "nvtx_startend_sum"},
      {"nvtxsum", "nvtx_sum"},
      {"osrtsum", "osrt_sum"},
  });
  for (const auto& [old, now] : kOld) {
    if (old == name) return now;
  }
  return name;
}

void round_as_nsys(Table& table, bool as_text) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int digits = table.columns[c].label.find(kMegabytes) == std::string::npos ? 1 : 3;
    double scale = digits == 1 ? 10 : 1000;
    for (std::vector<Cell>& row : table.rows) {
      const double* value = std::get_if<double>(&row[c]);
      if (!value) continue;
      if (as_text) {
        row[c] = fmt::format("{:.{}f}", *value, digits);
      } else {
        row[c] = std::round(*value * scale) / scale;
      }
    }
  }
}

}  // namespace headway::analyzer
