// SPDX-License-Identifier: MIT
// Uses the names of PyTorch's profiler (Kineto), so that readers of its traces find what they need.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "trace/export/autograd_pairs.h"
#include "trace/export/chrome_rows.h"
#include "trace/export/export.h"
#include "trace/export/sink.h"
#include "trace/import/kineto/vocabulary.h"
#include "trace/json_text.h"
#include "trace/load/cupti_enums.h"
#include "trace/meta_keys.h"

namespace headway::trace {
namespace {

using namespace export_detail;

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel": Kineto's names have no such version; the "_v2"
/// of some functions is part of the function's name.
std::string_view without_version(std::string_view name) {
  std::size_t at = name.rfind("_v");
  if (!name.starts_with("cu") || at == std::string_view::npos || name.size() - at < 6) return name;
  bool digits = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 2, name.end(),
                            [](char c) { return c >= '0' && c <= '9'; });
  return digits ? name.substr(0, at) : name;
}

/// Kineto's name for the row of a synchronising call; empty for other calls.
std::string_view sync_name(DeviceCallKind kind) {
  switch (kind) {
    case DeviceCallKind::kEventSynchronize:
      return "Event Sync";
    case DeviceCallKind::kStreamWaitEvent:
      return "Stream Wait Event";
    case DeviceCallKind::kStreamSynchronize:
      return "Stream Sync";
    case DeviceCallKind::kDeviceSynchronize:
      return "Context Sync";
    default:
      return "";
  }
}

std::string_view memory_word(MemoryKind kind) {
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
      return "Unknown";
  }
  return "Unknown";
}

std::string_view overhead_name(Overhead::Kind kind) {
  switch (kind) {
    case Overhead::Kind::kModuleLoad:
      return "Runtime Triggered Module Loading";
    case Overhead::Kind::kProfiler:
      return "Instrumentation";
    case Overhead::Kind::kQueueFull:
      return "Command Buffer Full";
    case Overhead::Kind::kAllocation:
      return "Resource";
    case Overhead::Kind::kOther:
      return "Unrecognized";
  }
  return "Unrecognized";
}

class ChromeWriter {
 public:
  ChromeWriter(const Trace& trace, Sink& sink)
      : trace_(trace),
        sink_(sink),
        out_(sink.buffer()),
        rows_(trace),
        names_(trace.strings.size()),
        call_names_(trace.strings.size()) {
    collective_of_op_.reserve(trace.collectives.size());
    for (std::uint32_t i = 0; i < trace.collectives.size(); ++i) {
      const Collective& collective = trace.collectives[i];
      if (collective.op.valid()) collective_of_op_.try_emplace(collective.op.value, i);
      if (collective.range.valid() && told_by_range(collective))
        collective_of_range_.try_emplace(collective.range.value, i);
    }
  }

  void write() {
    header();
    process_rows();
    ranges();
    calls();
    device_ops();
    overheads();
    autograd_flows();
    counters();
    out_ += "\n]\n}\n";
  }

 private:
  // -- pieces -------------------------------------------------------------------------------------

  void field(std::string_view name, std::int64_t value) {
    out_ += ",\"";
    out_ += name;
    out_ += "\":";
    append_integer(out_, value);
  }
  void text(std::string_view name, std::string_view value) {
    out_ += ",\"";
    out_ += name;
    out_ += "\":";
    append_json_string(out_, value);
  }
  /// The JSON text of a name, made once.
  const std::string& quoted(StringId id) {
    if (id.value >= names_.size()) return unknown_;
    std::string& known = names_[id.value];
    if (known.empty()) append_json_string(known, trace_.strings[id]);
    return known;
  }
  const std::string& quoted_call(StringId id) {
    if (id.value >= call_names_.size()) return unknown_;
    std::string& known = call_names_[id.value];
    if (known.empty()) append_json_string(known, without_version(trace_.strings[id]));
    return known;
  }

  void begin(std::string_view phase) {
    sink_.flush_if_full();
    out_ += first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
    first_ = false;
    out_ += phase;
    out_ += '"';
  }
  void row(ChromeRow where) {
    field("pid", where.pid);
    field("tid", where.tid);
  }
  void time(TimeNs at) {
    out_ += ",\"ts\":";
    append_microseconds(out_, at.ns);
  }
  void complete(std::string_view category, std::string_view quoted_name, ChromeRow where,
                TimeNs start, TimeNs end) {
    begin("X");
    out_ += ",\"cat\":\"";
    out_ += category;
    out_ += "\",\"name\":";
    out_ += quoted_name;
    row(where);
    time(start);
    out_ += ",\"dur\":";
    append_microseconds(out_, (end - start).ns);
  }
  /// Opens "args" with a first field, so that further fields may follow with a comma.
  void args(std::string_view first_name, std::int64_t value) {
    out_ += ",\"args\":{\"";
    out_ += first_name;
    out_ += "\":";
    append_integer(out_, value);
  }
  void flow_end(std::string_view phase, std::string_view category, std::int64_t id, ChromeRow where,
                TimeNs at) {
    begin(phase);
    out_ += ",\"cat\":\"";
    out_ += category;
    out_ += "\",\"name\":\"";
    out_ += category;
    out_ += '"';
    field("id", id);
    row(where);
    time(at);
    out_ += phase == "f" ? ",\"bp\":\"e\"}" : "}";
  }

  // -- parts --------------------------------------------------------------------------------------

  void header() {
    out_ += "{\n\"schemaVersion\":1,\n\"deviceProperties\":[";
    for (std::size_t i = 0; i < trace_.devices.size(); ++i) {
      const Device& device = trace_.devices[i];
      out_ += i ? ",\n{\"id\":" : "\n{\"id\":";
      append_integer(out_, device.ordinal);
      text("name", device.name);
      if (device.memory_bytes) field("totalGlobalMem", device.memory_bytes);
      if (device.compute_major) {
        field("computeMajor", device.compute_major);
        field("computeMinor", device.compute_minor);
      }
      if (device.cores) field("numSms", device.cores);
      out_ += '}';
    }
    out_ += "],\n";
    std::string_view backend = trace_.meta_value(meta::kDistributedBackend);
    bool distributed = trace_.world_size > 0 || !trace_.meta_value(meta::kDistributedRank).empty();
    for (const Process& process : trace_.processes) distributed = distributed || process.rank > 0;
    if (distributed && !trace_.processes.empty()) {
      out_ += "\"distributedInfo\":{\"rank\":";
      append_integer(out_, rank());
      if (!backend.empty()) text("backend", backend);
      if (trace_.world_size > 0) field("world_size", trace_.world_size);
      out_ += "},\n";
    }
    out_ += "\"displayTimeUnit\":\"ns\",\n\"baseTimeNanoseconds\":";
    append_integer(out_, trace_.start_utc_ns);
    out_ += ",\n\"traceName\":";
    append_json_string(out_, trace_.path);
    out_ += ",\n\"traceEvents\":[";
  }

  /// Kineto's files are of one rank; of several ranks, this is the one with the most calls.
  std::int32_t rank() const {
    std::vector<std::size_t> count(trace_.processes.size());
    for (ThreadId thread : trace_.calls.thread) ++count[trace_.threads[thread.value].process.value];
    auto most = std::max_element(count.begin(), count.end());
    return trace_.processes[static_cast<std::size_t>(most - count.begin())].rank;
  }

  void metadata(std::string_view what, ChromeRow where, std::string_view key,
                std::string_view value) {
    begin("M");
    text("name", what);
    row(where);
    out_ += ",\"ts\":0,\"args\":{\"";
    out_ += key;
    out_ += "\":";
    append_json_string(out_, value);
    out_ += "}}";
  }
  void sort_index(std::string_view what, ChromeRow where, std::int64_t index) {
    begin("M");
    text("name", what);
    row(where);
    out_ += ",\"ts\":0";
    args("sort_index", index);
    out_ += "}}";
  }

  void process_rows() {
    for (std::size_t i = 0; i < trace_.processes.size(); ++i) {
      const Process& process = trace_.processes[i];
      ChromeRow where{rows_.process[i], 0};
      metadata("process_name", where, "name", process.name.empty() ? "process" : process.name);
      metadata("process_labels", where, "labels", "CPU");
      sort_index("process_sort_index", where, static_cast<std::int64_t>(i));
    }
    for (std::size_t i = 0; i < trace_.threads.size(); ++i) {
      const Thread& thread = trace_.threads[i];
      if (rows_.is_stream[i]) continue;  // named below
      metadata("thread_name", rows_.thread[i], "name",
               thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name);
      sort_index("thread_sort_index", rows_.thread[i], static_cast<std::int64_t>(i));
    }
    for (std::size_t i = 0; i < trace_.devices.size(); ++i) {
      const Device& device = trace_.devices[i];
      ChromeRow where{rows_.device[i], 0};
      metadata("process_name", where, "name", device.name.empty() ? "device" : device.name);
      metadata("process_labels", where, "labels", fmt::format("GPU {}", device.ordinal));
      sort_index("process_sort_index", where, 5'000'000 + static_cast<std::int64_t>(i));
    }
    for (std::size_t i = 0; i < trace_.streams.size(); ++i) {
      const Stream& stream = trace_.streams[i];
      metadata("thread_name", rows_.stream[i], "name",
               stream.name.empty() ? fmt::format("stream {}", stream.ordinal) : stream.name);
      sort_index("thread_sort_index", rows_.stream[i], stream.ordinal);
    }
  }

  void raw_or_text(std::string_view name, std::string_view value) {
    if (!is_json_array(value)) return text(name, value);
    out_ += ",\"";
    out_ += name;
    out_ += "\":";
    out_ += value;
  }

  /// True when readers find the kernel of a range by its launch inside the range, or when there is
  /// no kernel.
  bool told_by_range(const Collective& collective) const {
    if (!collective.op.valid()) return true;
    CallId call = trace_.device_ops.call[collective.op.value];
    if (!call.valid() ||
        trace_.calls.thread[call.value] != trace_.ranges.thread[collective.range.value])
      return false;
    TimeNs launch = trace_.calls.start[call.value];
    Interval inside = trace_.ranges.interval(collective.range);
    return launch >= inside.begin && launch <= inside.end;
  }

  void args_of_range(std::uint32_t range) {
    const RangeInfo* info = trace_.info(RangeId{range});
    auto collective = collective_of_range_.find(range);
    bool carries = collective != collective_of_range_.end();
    if (!info && !carries) return;
    args("Record function id", 0);
    if (info) range_args(*info);
    if (carries) collective_args(trace_.collectives[collective->second]);
    out_ += '}';
  }

  void range_args(const RangeInfo& info) {
    if (info.sequence != conventions::kAbsent) field("Sequence number", info.sequence);
    if (info.shapes.valid()) raw_or_text("Input Dims", trace_.strings[info.shapes]);
    if (info.dtypes.valid()) raw_or_text("Input type", trace_.strings[info.dtypes]);
    if (info.op != conventions::kAbsent) field("op", info.op);
    if (info.step != conventions::kAbsent) field("step", info.step);
    if (info.batch != conventions::kAbsent) field("batch", info.batch);
    if (info.bytes) field("bytes", info.bytes);
    if (info.flops) field("flops", info.flops);
  }

  void ranges() {
    const Ranges& ranges = trace_.ranges;
    std::vector<std::string> categories;
    for (const std::string& domain : trace_.domains) {
      std::string quoted_domain;
      append_json_string(quoted_domain, domain.empty() ? "user_annotation" : domain);
      categories.push_back(quoted_domain.substr(1, quoted_domain.size() - 2));
    }
    for (std::uint32_t i = 0; i < ranges.size(); ++i) {
      const std::string& category = categories[ranges.domain[i].value];
      ChromeRow where = rows_.thread[ranges.thread[i].value];
      if (ranges.is(RangeId{i}, Ranges::kMark)) {
        begin("i");
        out_ += ",\"s\":\"t\"";
        if (ranges.domain[i].value != 0) out_ += ",\"cat\":\"" + category + '"';
        out_ += ",\"name\":";
        out_ += quoted(ranges.name[i]);
        row(where);
        time(ranges.start[i]);
      } else {
        complete(category, quoted(ranges.name[i]), where, ranges.start[i], ranges.end[i]);
      }
      args_of_range(i);
      out_ += '}';
    }
  }

  /// The call that recorded the awaited event, by process and sync id.
  std::int64_t record_of(std::size_t call) {
    if (records_.empty() && !records_known_) {
      records_known_ = true;
      for (std::size_t i = 0; i < trace_.calls.size(); ++i) {
        if (trace_.calls.kind[i] == DeviceCallKind::kEventRecord && trace_.calls.sync_id[i] != 0)
          records_[{process_of(i), trace_.calls.sync_id[i]}] = i;
      }
    }
    auto found = records_.find({process_of(call), trace_.calls.sync_id[call]});
    return found == records_.end() ? -1 : static_cast<std::int64_t>(found->second);
  }
  std::uint32_t process_of(std::size_t call) const {
    return trace_.threads[trace_.calls.thread[call].value].process.value;
  }

  void synchronization(std::size_t i) {
    const Calls& calls = trace_.calls;
    std::string_view name = sync_name(calls.kind[i]);
    bool waits = calls.sync_id[i] != 0 && calls.kind[i] != DeviceCallKind::kEventRecord;
    if (name.empty() && waits) name = "Event Sync";  // for example a query
    bool of_stream = calls.stream[i].valid();
    if (name.empty() || !(of_stream || waits)) return;
    std::string quoted_name;
    append_json_string(quoted_name, name);
    // As in Kineto, a row without a stream has number -1.
    ChromeRow where{rows_.device.empty() ? 0 : rows_.device[0], -1};
    if (of_stream) {
      where = rows_.stream[calls.stream[i].value];
    } else if (!std::exchange(row_without_stream_, true)) {
      metadata("thread_name", where, "name", "synchronisations of no stream");
    }
    complete("cuda_sync", quoted_name, where, calls.start[i], calls.end[i]);
    args("correlation", rows_.correlation[i]);
    text("cuda_sync_kind", name);
    if (of_stream) {
      const Stream& stream = trace_.streams[calls.stream[i].value];
      field("device", trace_.devices[stream.device.value].ordinal);
      field("stream", stream.ordinal);
    } else {
      field("stream", -1);
    }
    std::int64_t record = calls.sync_id[i] == 0 ? -1 : record_of(i);
    if (record >= 0) {
      auto at = static_cast<std::size_t>(record);
      field("wait_on_cuda_event_record_corr_id", rows_.correlation[at]);
      if (calls.stream[at].valid())
        field("wait_on_stream", trace_.streams[calls.stream[at].value].ordinal);
    }
    out_ += "}}";
  }

  void calls() {
    const Calls& calls = trace_.calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      std::string_view name = trace_.strings[calls.name[i]];
      bool driver = name.starts_with("cu") && !name.starts_with("cuda");
      complete(driver ? "cuda_driver" : "cuda_runtime", quoted_call(calls.name[i]),
               rows_.thread[calls.thread[i].value], calls.start[i], calls.end[i]);
      if (rows_.correlation[i]) {
        args("correlation", rows_.correlation[i]);
        if (calls.bytes[i]) field("bytes", calls.bytes[i]);
        out_ += '}';
      }
      out_ += '}';
      synchronization(i);
      DeviceOpId op = calls.op[i];
      if (!op.valid() || !rows_.correlation[i]) continue;
      flow_end("s", "ac2g", rows_.correlation[i], rows_.thread[calls.thread[i].value],
               calls.start[i]);
      flow_end("f", "ac2g", rows_.correlation[i],
               rows_.stream[trace_.device_ops.stream[op.value].value],
               trace_.device_ops.start[op.value]);
    }
  }

  /// "Memcpy HtoD (Pageable -> Device)" when the name is Headway's own; else the recording's name.
  std::string op_name(std::size_t i) {
    const DeviceOps& ops = trace_.device_ops;
    std::string_view own = trace_.strings[ops.name[i]];
    if (own != load_detail::name_of_kind(ops.kind[i]) || own.empty()) return quoted(ops.name[i]);
    std::string_view way = ops.kind[i] == DeviceOpKind::kCopyHostToDevice   ? "HtoD"
                           : ops.kind[i] == DeviceOpKind::kCopyDeviceToHost ? "DtoH"
                           : ops.kind[i] == DeviceOpKind::kCopyHostToHost   ? "HtoH"
                           : ops.kind[i] == DeviceOpKind::kCopyPeer         ? "PtoP"
                                                                            : "DtoD";
    std::string name =
        ops.kind[i] == DeviceOpKind::kMemset
            ? fmt::format("Memset ({})", memory_word(ops.destination_memory[i]))
            : fmt::format("Memcpy {} ({} -> {})", way, memory_word(ops.source_memory[i]),
                          memory_word(ops.destination_memory[i]));
    std::string out;
    append_json_string(out, name);
    return out;
  }

  void collective_args(const Collective& collective) {
    std::string_view kind = trace_.strings[collective.kind];
    text("Collective name", kind);
    std::string_view dtype =
        collective.dtype.valid() ? trace_.strings[collective.dtype] : std::string_view{};
    if (!dtype.empty()) text("dtype", dtype);
    if (collective.communicator.valid())
      text("Process Group Name", trace_.strings[collective.communicator]);
    if (collective.ranks) field("Group size", collective.ranks);
    if (collective.sequence != conventions::kAbsent) field("Seq", collective.sequence);
    std::int64_t element = kineto::bytes_of_dtype(dtype);
    if (element && collective.bytes != conventions::kAbsent) {
      std::int64_t whole = collective.bytes / element;
      std::int64_t part = collective.ranks > 0 ? whole / collective.ranks : whole;
      field("In msg nelems", kind == "allgather" ? part : whole);
      field("Out msg nelems", kind == "reducescatter" ? part : whole);
    }
    if (collective.peer >= 0) {
      field(kind == "send"   ? "Dst Rank"
            : kind == "recv" ? "Src Rank"
                             : "Root Rank",
            collective.peer);
    }
  }

  void device_ops() {
    const DeviceOps& ops = trace_.device_ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Stream& stream = trace_.streams[ops.stream[i].value];
      bool kernel =
          ops.kind[i] == DeviceOpKind::kKernel || ops.kind[i] == DeviceOpKind::kCommunication;
      bool set = ops.kind[i] == DeviceOpKind::kMemset;
      ChromeRow where = rows_.stream[ops.stream[i].value];
      if (kernel) {
        complete("kernel", quoted(ops.name[i]), where, ops.start[i], ops.end[i]);
      } else {
        complete(set ? "gpu_memset" : "gpu_memcpy", op_name(i), where, ops.start[i], ops.end[i]);
      }
      args("device", trace_.devices[stream.device.value].ordinal);
      field("stream", stream.ordinal);
      if (ops.call[i].valid()) field("correlation", rows_.correlation[ops.call[i].value]);
      if (ops.blocks[i]) {
        out_ += ",\"grid\":[";
        append_integer(out_, ops.blocks[i]);
        out_ += ",1,1]";
      }
      if (ops.block_threads[i]) {
        out_ += ",\"block\":[";
        append_integer(out_, ops.block_threads[i]);
        out_ += ",1,1]";
      }
      if (ops.bytes[i]) field("bytes", ops.bytes[i]);
      if (ops.flops[i]) field("flops", ops.flops[i]);
      auto collective = collective_of_op_.find(static_cast<std::uint32_t>(i));
      if (collective != collective_of_op_.end())
        collective_args(trace_.collectives[collective->second]);
      out_ += "}}";
    }
  }

  void overheads() {
    for (const Overhead& overhead : trace_.overheads) {
      std::string name;
      bool named = overhead.name.valid() && !trace_.strings[overhead.name].empty();
      append_json_string(name,
                         named ? trace_.strings[overhead.name] : overhead_name(overhead.kind));
      ChromeRow where{-1, 0};
      if (overhead.thread.valid()) where = rows_.thread[overhead.thread.value];
      complete("overhead", name, where, overhead.interval.begin, overhead.interval.end);
      out_ += '}';
    }
  }

  /// Flows from the last forward op with a sequence number to the first op on another thread with
  /// the same number.
  void autograd_flows() {
    const Ranges& ranges = trace_.ranges;
    std::int64_t id = 0;
    for (const AutogradPair& pair : autograd_pairs(trace_)) {
      ++id;
      flow_end("s", "fwdbwd", id, rows_.thread[ranges.thread[pair.forward.value].value],
               ranges.start[pair.forward.value]);
      flow_end("f", "fwdbwd", id, rows_.thread[ranges.thread[pair.backward.value].value],
               ranges.start[pair.backward.value]);
    }
  }

  void counters() {
    for (const CounterSeries& series : trace_.counters) {
      std::string name;
      append_json_string(
          name, series.device ? fmt::format("{} {}", series.name, *series.device) : series.name);
      std::string unit;
      append_json_string(unit, series.unit.empty() ? "value" : series.unit);
      std::int64_t pid = series.process.valid()  ? rows_.process[series.process.value]
                         : rows_.process.empty() ? 0
                                                 : rows_.process[0];
      for (std::size_t i = 0; i < series.time.size(); ++i) {
        begin("C");
        out_ += ",\"name\":";
        out_ += name;
        field("pid", pid);
        time(series.time[i]);
        // JSON has no infinities.
        double value = series.value[i];
        if (!(value > -1e300 && value < 1e300)) value = 0;
        out_ += ",\"args\":{";
        out_ += unit;
        out_ += ':';
        out_ += fmt::format("{}", value);
        out_ += "}}";
      }
    }
  }

  struct KeyHash {
    std::size_t operator()(const std::pair<std::uint32_t, std::uint64_t>& key) const {
      return std::hash<std::uint64_t>{}(key.second * 0x9e3779b97f4a7c15u + key.first);
    }
  };

  const Trace& trace_;
  Sink& sink_;
  std::string& out_;
  ChromeRows rows_;
  std::vector<std::string> names_;
  std::vector<std::string> call_names_;
  std::string unknown_ = "\"?\"";
  std::unordered_map<std::uint32_t, std::uint32_t> collective_of_op_;
  std::unordered_map<std::uint32_t, std::uint32_t> collective_of_range_;
  std::unordered_map<std::pair<std::uint32_t, std::uint64_t>, std::size_t, KeyHash> records_;
  bool records_known_ = false;
  bool row_without_stream_ = false;  ///< the row for ops without a stream has been named
  bool first_ = true;
};

}  // namespace

void export_chrome_json(const Trace& trace, const std::filesystem::path& path,
                        const ExportOptions& options) {
  Sink sink(path, options.overwrite);
  ChromeWriter(trace, sink).write();
  sink.finish();
}

}  // namespace headway::trace
