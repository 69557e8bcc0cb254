// SPDX-License-Identifier: MIT
// Field numbers are those of Perfetto's protobuf messages. Each enum is named after its message; messages of two or three
// fields have plain numbers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "common/text.h"
#include "trace/export/autograd_pairs.h"
#include "trace/export/export.h"
#include "trace/export/proto_writer.h"
#include "trace/export/sink.h"

namespace headway::trace {
namespace {

using namespace export_detail;

enum TracePacket : std::uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
enum TrackEvent : std::uint32_t {
  kCategory = 3,
  kAnnotation = 4,
  kType = 9,
  kName = 10,
  kTrack = 11,
  kCounterValue = 44,
  kFlow = 47,
  kFlowEnd = 48,
};
enum TrackEventType : std::uint32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
enum TrackDescriptor : std::uint32_t {
  kTrackId = 1,
  kTrackName = 2,
  kProcess = 3,
  kThread = 4,
  kParent = 5,
  kCounterUnit = 8,
};
enum InternedData : std::uint32_t { kCategories = 1, kEventNames = 2, kAnnotationNames = 3 };

/// Key-value pairs that Perfetto shows for a selected slice; values are numbers or texts.
class Annotations {
 public:
  explicit Annotations(class PerfettoWriter& writer) : writer_(writer) {}
  void number(std::string_view name, std::int64_t value);
  void text(std::string_view name, std::string_view value);
  ProtoWriter fields;  ///< fields of the TrackEvent

 private:
  class PerfettoWriter& writer_;
};

/// One slice of a track and the row that it comes from.
struct Slice {
  Interval when;
  enum class From : std::uint8_t { kRange, kCall, kOp, kOverhead } from = From::kRange;
  std::uint32_t row = 0;
};

class PerfettoWriter {
 public:
  PerfettoWriter(const Trace& trace, Sink& sink) : trace_(trace), sink_(sink) {
    TimeNs earliest;
    for (const auto* starts : {&trace.ranges.start, &trace.calls.start, &trace.device_ops.start}) {
      if (!starts->empty()) earliest = std::min(earliest, starts->front());
    }
    for (const CounterSeries& series : trace.counters) {
      if (!series.time.empty()) earliest = std::min(earliest, series.time.front());
    }
    base_ = -earliest.ns;
    find_flows();
  }

  void write() {
    begin_sequence();
    describe_processes();
    threads();
    devices();
    counters();
  }

  std::uint64_t annotation_name(std::string_view name) {
    return interned(annotation_names_, name, kAnnotationNames);
  }

 private:
  // -- packets ------------------------------------------------------------------------------------

  void packet(ProtoWriter& fields, std::uint64_t flags = 2) {
    fields.number(kSequence, 1).number(kSequenceFlags, flags);
    if (!new_names_.empty()) fields.message(kInternedData, new_names_);
    new_names_.clear();
    whole_.clear();
    whole_.message(1, fields);
    sink_.buffer() += whole_.text();
    sink_.flush_if_full();
  }
  std::uint64_t at(TimeNs time) const { return static_cast<std::uint64_t>(time.ns + base_); }

  /// The ID of a text. A new one is written with the packet that uses it first.
  std::uint64_t interned(std::map<std::string, std::uint64_t, std::less<>>& known,
                         std::string_view name, std::uint32_t field) {
    auto found = known.find(name);
    if (found != known.end()) return found->second;
    std::uint64_t id = known.size() + 1;
    known.emplace(name, id);
    ProtoWriter entry;
    new_names_.message(field, entry.number(1, id).bytes(2, to_valid_utf8(name)));
    return id;
  }
  std::uint64_t event_name(StringId id) {
    if (names_.size() < trace_.strings.size()) names_.resize(trace_.strings.size());
    if (id.value >= names_.size()) return interned(texts_, "?", kEventNames);
    std::uint64_t& known = names_[id.value];
    if (known == 0) known = interned(texts_, trace_.strings[id], kEventNames);
    return known;
  }

  void begin_sequence() {
    // The same moment on the clock of the trace and on the wall clock.
    auto clock = [](std::uint64_t id, std::uint64_t time) {
      ProtoWriter one;
      one.number(1, id).number(2, time);
      return one;
    };
    constexpr std::uint64_t kRealtime = 1;
    constexpr std::uint64_t kBoottime = 6;
    ProtoWriter snapshot;
    snapshot.message(1, clock(kBoottime, at({0})));
    if (trace_.start_utc_ns > 0)
      snapshot.message(1, clock(kRealtime, static_cast<std::uint64_t>(trace_.start_utc_ns)));
    snapshot.number(2, kBoottime);
    ProtoWriter fields;
    fields.number(kTimestamp, at({0})).message(kClockSnapshot, snapshot);
    constexpr std::uint64_t kStateCleared = 1;
    packet(fields, kStateCleared);
  }

  std::uint64_t track(ProtoWriter descriptor, std::uint64_t parent, std::string_view name) {
    std::uint64_t id = ++last_track_;
    descriptor.number(kTrackId, id);
    if (parent) descriptor.number(kParent, parent);
    if (!name.empty()) descriptor.bytes(kTrackName, to_valid_utf8(name));
    ProtoWriter fields;
    fields.message(kTrackDescriptor, descriptor);
    packet(fields);
    return id;
  }

  // -- tracks -------------------------------------------------------------------------------------

  void describe_processes() {
    constexpr std::int32_t kBeyondPids = 100'000'000;  // Linux allows at most 2^22
    std::set<std::int32_t> used;
    for (std::size_t i = 0; i < trace_.processes.size(); ++i) {
      const Process& process = trace_.processes[i];
      std::int32_t pid = process.pid;
      if (pid <= 0 || !used.insert(pid).second) pid = kBeyondPids + static_cast<std::int32_t>(i);
      pids_.push_back(pid);
      std::string name = process.name.empty() ? "process" : process.name;
      if (trace_.world_size > 1) name = fmt::format("rank {}: {}", process.rank, name);
      ProtoWriter fields;
      fields.integer(1, pid).bytes(6, to_valid_utf8(name));
      ProtoWriter descriptor;
      process_tracks_.push_back(track(descriptor.message(kProcess, fields), 0, ""));
    }
  }

  void threads() {
    std::vector<std::vector<Slice>> slices(trace_.threads.size());
    std::vector<std::vector<RangeId>> marks(trace_.threads.size());
    for (std::uint32_t i = 0; i < trace_.ranges.size(); ++i) {
      std::uint32_t thread = trace_.ranges.thread[i].value;
      if (trace_.ranges.is({i}, Ranges::kMark)) {
        marks[thread].push_back({i});
      } else {
        slices[thread].push_back({trace_.ranges.interval({i}), Slice::From::kRange, i});
      }
    }
    for (std::uint32_t i = 0; i < trace_.calls.size(); ++i)
      slices[trace_.calls.thread[i].value].push_back(
          {trace_.calls.interval({i}), Slice::From::kCall, i});
    for (std::uint32_t i = 0; i < trace_.overheads.size(); ++i) {
      const Overhead& overhead = trace_.overheads[i];
      if (overhead.thread.valid())
        slices[overhead.thread.value].push_back({overhead.interval, Slice::From::kOverhead, i});
    }
    std::set<std::pair<std::int32_t, std::int32_t>> used;
    for (std::uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const Thread& thread = trace_.threads[t];
      if (slices[t].empty() && marks[t].empty()) continue;
      std::string name = thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name;
      std::uint64_t parent = process_tracks_[thread.process.value];
      std::int32_t pid = pids_[thread.process.value];
      ProtoWriter descriptor;
      bool real = thread.tid > 0 && used.emplace(pid, thread.tid).second;
      if (real) {
        ProtoWriter fields;
        fields.integer(1, pid).integer(2, thread.tid).bytes(5, to_valid_utf8(name));
        descriptor.message(kThread, fields);
      }
      std::uint64_t id = track(descriptor, parent, real ? "" : name);
      for (RangeId mark : marks[t]) {
        Annotations more(*this);
        annotate_range(mark, more);
        event(id, kInstant, trace_.ranges.start[mark.value],
              event_name(trace_.ranges.name[mark.value]), category(mark), more);
      }
      add_slices(slices[t], id, parent, name);
    }
  }

  void devices() {
    std::vector<std::vector<Slice>> slices(trace_.streams.size());
    for (std::uint32_t i = 0; i < trace_.device_ops.size(); ++i)
      slices[trace_.device_ops.stream[i].value].push_back(
          {trace_.device_ops.interval({i}), Slice::From::kOp, i});
    for (std::uint32_t d = 0; d < trace_.devices.size(); ++d) {
      const Device& device = trace_.devices[d];
      std::uint64_t parent = 0;
      for (std::uint32_t s = 0; s < trace_.streams.size(); ++s) {
        const Stream& stream = trace_.streams[s];
        if (stream.device.value != d || slices[s].empty()) continue;
        if (!parent)
          parent = track({}, 0,
                         fmt::format("Device {}: {}", device.ordinal,
                                     device.name.empty() ? "device" : device.name));
        std::string name =
            stream.name.empty() ? fmt::format("stream {}", stream.ordinal) : stream.name;
        add_slices(slices[s], track({}, parent, name), parent, name);
      }
    }
  }

  /// Slices of a track must nest. Those that do not nest go to further tracks of the same name.
  void add_slices(std::vector<Slice>& slices, std::uint64_t first, std::uint64_t parent,
                  const std::string& name) {
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return a.when.begin != b.when.begin ? a.when.begin < b.when.begin : a.when.end > b.when.end;
    });
    struct Lane {
      std::uint64_t track = 0;
      std::vector<TimeNs> open;  ///< ends of the open slices
    };
    std::vector<Lane> lanes{{first, {}}};
    for (const Slice& slice : slices) {
      std::size_t l = 0;
      for (;; ++l) {
        if (l == lanes.size()) lanes.push_back({track({}, parent, name), {}});
        Lane& lane = lanes[l];
        while (!lane.open.empty() && lane.open.back() <= slice.when.begin)
          close(lane.track, lane.open);
        if (lane.open.empty() || lane.open.back() >= slice.when.end) break;
      }
      add_slice(slice, lanes[l].track);
      lanes[l].open.push_back(slice.when.end);
    }
    for (Lane& lane : lanes) {
      while (!lane.open.empty()) close(lane.track, lane.open);
    }
  }

  void close(std::uint64_t track, std::vector<TimeNs>& open) {
    ProtoWriter event;
    event.number(kType, kSliceEnd).number(kTrack, track);
    ProtoWriter fields;
    packet(fields.number(kTimestamp, at(open.back())).message(kTrackEvent, event));
    open.pop_back();
  }

  void event(std::uint64_t track, TrackEventType type, TimeNs time, std::uint64_t name,
             std::uint64_t category, const Annotations& more) {
    ProtoWriter event = more.fields;
    event.number(kType, type).number(kTrack, track).number(kName, name);
    if (category) event.number(kCategory, category);
    ProtoWriter fields;
    packet(fields.number(kTimestamp, at(time)).message(kTrackEvent, event));
  }

  // -- slices -------------------------------------------------------------------------------------

  void add_slice(const Slice& slice, std::uint64_t track) {
    Annotations more(*this);
    std::uint64_t name = 0;
    std::uint64_t category_id = 0;
    switch (slice.from) {
      case Slice::From::kRange:
        name = event_name(trace_.ranges.name[slice.row]);
        category_id = category({slice.row});
        annotate_range({slice.row}, more);
        add_flows(flows_of_range_, slice.row, more.fields);
        break;
      case Slice::From::kCall:
        name = event_name(trace_.calls.name[slice.row]);
        category_id = interned(categories_, "call", kCategories);
        if (trace_.calls.correlation[slice.row])
          more.number("correlation",
                      static_cast<std::int64_t>(trace_.calls.correlation[slice.row]));
        if (trace_.calls.bytes[slice.row]) more.number("bytes", trace_.calls.bytes[slice.row]);
        for (std::uint32_t i = first_op_[slice.row]; i < first_op_[slice.row + 1]; ++i)
          more.fields.fixed64(kFlow, op_flow(ops_by_call_[i]));
        break;
      case Slice::From::kOp:
        name = event_name(trace_.device_ops.name[slice.row]);
        category_id =
            interned(categories_, op_category(trace_.device_ops.kind[slice.row]), kCategories);
        annotate_op(slice.row, more);
        if (trace_.device_ops.call[slice.row].valid())
          more.fields.fixed64(kFlowEnd, op_flow(slice.row));
        break;
      case Slice::From::kOverhead:
        name = event_name(trace_.overheads[slice.row].name);
        category_id = interned(categories_, "overhead", kCategories);
        break;
    }
    event(track, kSliceBegin, slice.when.begin, name, category_id, more);
  }

  std::uint64_t category(RangeId range) {
    const std::string& domain = trace_.domains[trace_.ranges.domain[range.value].value];
    return domain.empty() ? 0 : interned(categories_, domain, kCategories);
  }
  static std::string_view op_category(DeviceOpKind kind) {
    switch (kind) {
      case DeviceOpKind::kKernel:
        return "kernel";
      case DeviceOpKind::kCommunication:
        return "communication";
      case DeviceOpKind::kMemset:
        return "memset";
      default:
        return "copy";
    }
  }

  void annotate_range(RangeId range, Annotations& to) {
    const RangeInfo* info = trace_.info(range);
    if (!info) return;
    auto add = [&](std::string_view name, std::int64_t value) {
      if (value != conventions::kAbsent) to.number(name, value);
    };
    add("step", info->step);
    add("batch", info->batch);
    add("op", info->op);
    add("sequence", info->sequence);
    if (info->bytes) to.number("bytes", info->bytes);
    if (info->flops) to.number("flops", info->flops);
    if (info->shapes.valid()) to.text("shapes", trace_.strings[info->shapes]);
    if (info->dtypes.valid()) to.text("types", trace_.strings[info->dtypes]);
  }

  void annotate_op(std::uint32_t i, Annotations& to) {
    const DeviceOps& ops = trace_.device_ops;
    if (ops.bytes[i]) to.number("bytes", ops.bytes[i]);
    if (ops.flops[i]) to.number("flops", ops.flops[i]);
    if (ops.blocks[i]) to.number("blocks", ops.blocks[i]);
    if (ops.block_threads[i]) to.number("threads of a block", ops.block_threads[i]);
    const ProcessId process = trace_.streams[ops.stream[i].value].process;
    if (ops.op[i] < 0) return;
    auto op = trace_.graph_op_index.find({process, ops.op[i]});
    if (op != trace_.graph_op_index.end()) to.text("op", trace_.graph_ops[op->second.value].name);
  }

  // -- flows --------------------------------------------------------------------------------------

  void find_flows() {
    // Counting sort of ops by call: those of call c are ops_by_call_[first_op_[c], first_op_[c + 1]).
    const DeviceOps& ops = trace_.device_ops;
    first_op_.assign(trace_.calls.size() + 1, 0);
    for (CallId call : ops.call) {
      if (call.valid()) ++first_op_[call.value + 1];
    }
    for (std::size_t i = 1; i < first_op_.size(); ++i) first_op_[i] += first_op_[i - 1];
    ops_by_call_.resize(first_op_.back());
    std::vector<std::uint32_t> next = first_op_;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (ops.call[i].valid()) ops_by_call_[next[ops.call[i].value]++] = i;
    }
    std::uint64_t id = ops.size();
    for (const AutogradPair& pair : autograd_pairs(trace_)) {
      ++id;
      flows_of_range_[pair.forward.value].push_back({kFlow, id});
      flows_of_range_[pair.backward.value].push_back({kFlowEnd, id});
    }
  }
  static std::uint64_t op_flow(std::uint32_t op) { return std::uint64_t{op} + 1; }

  using RangeFlows =
      std::unordered_map<std::uint32_t, std::vector<std::pair<TrackEvent, std::uint64_t>>>;
  static void add_flows(const RangeFlows& flows, std::uint32_t row, ProtoWriter& to) {
    auto found = flows.find(row);
    if (found == flows.end()) return;
    for (const auto& [field, id] : found->second) to.fixed64(field, id);
  }

  // -- counters -----------------------------------------------------------------------------------

  void counters() {
    for (const CounterSeries& series : trace_.counters) {
      ProtoWriter unit;
      constexpr std::uint64_t kBytes = 3;
      if (series.unit == "bytes" || series.unit == "B") {
        unit.number(3, kBytes);
      } else if (!series.unit.empty()) {
        unit.bytes(6, to_valid_utf8(series.unit));
      }
      ProtoWriter descriptor;
      std::uint64_t id = track(
          descriptor.message(kCounterUnit, unit),
          series.process.valid() ? process_tracks_[series.process.value] : 0,
          series.device ? fmt::format("{} (device {})", series.name, *series.device) : series.name);
      for (std::size_t i = 0; i < series.time.size(); ++i) {
        ProtoWriter event;
        event.number(kType, kCounter).number(kTrack, id).real(kCounterValue, series.value[i]);
        ProtoWriter fields;
        packet(fields.number(kTimestamp, at(series.time[i])).message(kTrackEvent, event));
      }
    }
  }

  const Trace& trace_;
  Sink& sink_;
  ProtoWriter whole_;
  std::int64_t base_ = 0;  ///< offset that makes all times positive
  std::uint64_t last_track_ = 0;
  ProtoWriter new_names_;
  std::vector<std::uint64_t> names_;  ///< by StringId; 0: not used yet
  std::map<std::string, std::uint64_t, std::less<>> texts_;
  std::map<std::string, std::uint64_t, std::less<>> categories_;
  std::map<std::string, std::uint64_t, std::less<>> annotation_names_;
  std::vector<std::int32_t> pids_;
  std::vector<std::uint64_t> process_tracks_;
  std::vector<std::uint32_t> first_op_;  ///< by call: index into ops_by_call_
  std::vector<std::uint32_t> ops_by_call_;
  RangeFlows flows_of_range_;
};

void Annotations::number(std::string_view name, std::int64_t value) {
  ProtoWriter one;
  fields.message(kAnnotation, one.number(1, writer_.annotation_name(name)).integer(4, value));
}

void Annotations::text(std::string_view name, std::string_view value) {
  ProtoWriter one;
  fields.message(kAnnotation,
                 one.number(1, writer_.annotation_name(name)).bytes(6, to_valid_utf8(value)));
}

}  // namespace

void export_perfetto(const Trace& trace, const std::filesystem::path& path,
                     const ExportOptions& options) {
  Sink sink(path, options.overwrite);
  PerfettoWriter(trace, sink).write();
  sink.finish();
}

}  // namespace headway::trace
