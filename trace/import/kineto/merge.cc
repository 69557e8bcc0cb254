// SPDX-License-Identifier: MIT
// Merges the parts into one Trace: times count from the trace's zero, ids become the trace's, and
// rows that no recording can have are set aside.
#include "trace/import/kineto/merge.h"

#include <algorithm>

#include "trace/import/kineto/parser.h"
#include "trace/load/cuda_api.h"

namespace headway::trace::kineto {
namespace {

using namespace load_detail;

constexpr std::int64_t kSecond = 1'000'000'000;
/// A recording lasts minutes. Rows a week away from the others come from a broken clock.
constexpr std::int64_t kReach = 7 * 24 * 3600 * kSecond;
/// No Linux thread or process has a number this large; ids of the file that do not fit get one.
constexpr std::int64_t kFirstMadeUp = 0xf00000;

/// Removes the rows whose start or end is out of reach, column by column.
template <class Columns>
void keep_within(Columns& table, std::int64_t earliest, std::int64_t latest, LossCounts& losses) {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    if (table.start[i].ns >= earliest && table.end[i].ns <= latest) kept.push_back(i);
  }
  if (kept.size() == table.size()) return;
  count(losses, Loss::kTimeOutOfRange, static_cast<std::int64_t>(table.size() - kept.size()));
  std::apply(
      [&](auto&... column) {
        auto one = [&](auto& values) {
          if (values.empty()) return;
          for (std::size_t i = 0; i < kept.size(); ++i) values[i] = values[kept[i]];
          values.resize(kept.size());
        };
        (one(column), ...);
      },
      table.columns());
}

template <class Rows>
void keep_points(Rows& rows, std::int64_t earliest, std::int64_t latest, LossCounts& losses) {
  auto gone = std::erase_if(
      rows, [&](const auto& row) { return row.time < earliest || row.time > latest; });
  count(losses, Loss::kTimeOutOfRange, static_cast<std::int64_t>(gone));
}

class Merge {
 public:
  Merge(Merged& merged, std::vector<Part>& parts)
      : merged_(merged), trace_(merged.assembly.trace), parts_(parts) {}

  void run() {
    find_reach();
    find_main_process();
    reserve();
    for (Part& part : parts_) {
      begin(part);
      add_ranges();
      add_calls();
      // Free the columns and texts of a part: they take as much memory as its rows in the trace.
      part.ranges = {};
      part.calls = {};
    }
    for (Part& part : parts_) {
      begin(part);
      add_rest();  // after all parts, because it looks for threads that later parts may add
      add_ops();
      merged_.assembly.add_losses(part.losses);
      metadata_.push_back({std::move(part.texts), std::move(part.metadata)});
      part = {};
    }
    pair_halves();
    add_counters();
    apply_metadata();
  }

 private:
  struct Half {
    HalfRow row;
    ThreadId thread;
    StringId name;
    DomainId domain;
  };
  struct Series {
    std::vector<std::pair<TimeNs, double>> points;
  };
  using SeriesKey = std::tuple<std::string, ProcessId, std::optional<std::int32_t>>;

  void find_reach() {
    std::vector<std::int64_t> hints;
    for (const Part& part : parts_) {
      if (part.first_time <= part.last_time) hints.push_back(part.median_hint);
    }
    if (hints.empty()) return;
    auto middle = hints.begin() + static_cast<std::ptrdiff_t>(hints.size() / 2);
    std::nth_element(hints.begin(), middle, hints.end());
    using Limits = std::numeric_limits<std::int64_t>;
    std::int64_t centre = std::clamp(*middle, Limits::min() + kReach, Limits::max() - kReach);
    merged_.earliest = centre - kReach;
    merged_.latest = centre + kReach;
    // Broken records of CUPTI have time 0, which may be only hours from the other times.
    if (*middle > 60 * kSecond) merged_.earliest = std::max<std::int64_t>(merged_.earliest, 1);
    std::int64_t zero = std::numeric_limits<std::int64_t>::max();
    for (Part& part : parts_) {
      if (part.first_time < merged_.earliest || part.last_time > merged_.latest) filter(part);
      if (part.first_time <= part.last_time) zero = std::min(zero, part.first_time);
    }
    merged_.zero = zero == std::numeric_limits<std::int64_t>::max() ? 0 : zero;
  }

  void filter(Part& part) {
    keep_within(part.ranges, merged_.earliest, merged_.latest, part.losses);
    keep_within(part.calls, merged_.earliest, merged_.latest, part.losses);
    keep_within(part.ops, merged_.earliest, merged_.latest, part.losses);
    keep_points(part.memory, merged_.earliest, merged_.latest, part.losses);
    keep_points(part.counters, merged_.earliest, merged_.latest, part.losses);
    keep_points(part.halves, merged_.earliest, merged_.latest, part.losses);
    std::erase_if(part.overheads, [&](const OverheadRow& row) {
      return row.start < merged_.earliest || row.end > merged_.latest;
    });
    part.first_time = std::numeric_limits<std::int64_t>::max();
    part.last_time = std::numeric_limits<std::int64_t>::min();
    auto see = [&](std::int64_t time) {
      part.first_time = std::min(part.first_time, time);
      part.last_time = std::max(part.last_time, time);
    };
    for (const auto* starts : {&part.ranges.start, &part.calls.start, &part.ops.start}) {
      for (TimeNs time : *starts) see(time.ns);
    }
    for (const MemoryRow& row : part.memory) see(row.time);
    for (const CounterRow& row : part.counters) see(row.time);
    for (const HalfRow& row : part.halves) see(row.time);
  }

  /// Finds the process with the most calls (without calls, the most ranges). The rows of the
  /// profiler and of devices have made-up processes and become threads of this process.
  void find_main_process() {
    std::map<std::int64_t, std::int64_t> calls;
    std::map<std::int64_t, std::int64_t> ranges;
    for (const Part& part : parts_) {
      auto vote = [&](auto& votes, const std::vector<ThreadId>& threads) {
        std::vector<std::int64_t> of_track(part.tracks.keys.size());
        for (ThreadId thread : threads) ++of_track[thread.value];
        for (std::size_t i = 0; i < of_track.size(); ++i) {
          const Track& track = part.tracks.keys[i];
          if (of_track[i] && !track.pid.is_text && !track.on_device)
            votes[track.pid.value] += of_track[i];
        }
      };
      vote(calls, part.calls.thread);
      vote(ranges, part.ranges.thread);
    }
    const auto& votes = calls.empty() ? ranges : calls;
    auto best = std::max_element(votes.begin(), votes.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    processes_with_calls_ = calls.size();
    merged_.main_process = best == votes.end() ? process_of("0", 0) : process(best->first);
  }

  ProcessId process(std::int64_t pid) { return process_of(std::to_string(pid), pid); }
  ProcessId process_of(const std::string& name, std::int64_t pid) {
    auto [slot, is_new] = merged_.processes.try_emplace({false, name});
    if (is_new) {
      std::int64_t number = pid >= 0 && pid < kFirstMadeUp ? pid : next_process_++;
      slot->second = merged_.assembly.process(number << 24);
    }
    return slot->second;
  }

  void reserve() {
    std::size_t ranges = 0;
    std::size_t calls = 0;
    std::size_t ops = 0;
    std::size_t infos = 0;
    for (const Part& part : parts_) {
      ranges += part.ranges.start.size();
      calls += part.calls.start.size();
      ops += part.ops.start.size();
      infos += part.infos.size();
    }
    reserve_columns(trace_.ranges, ranges);
    reserve_columns(trace_.calls, calls);
    reserve_columns(trace_.device_ops, ops);
    trace_.range_info.reserve(infos);
    trace_.domains.assign(1, "");
    domain_ids_[""] = DomainId{0};
  }

  void begin(Part& part) {
    part_ = &part;
    strings_.assign(part.texts.size(), StringId::none());
    collective_base_ = part_collectives_[&part];
    threads_.assign(part.tracks.keys.size(), ThreadId::none());
  }

  StringId string(std::uint32_t text) {
    StringId& id = strings_[text];
    if (!id.valid()) id = trace_.strings.add(parser_.unescape(part_->texts[text]));
    return id;
  }

  std::string text_of(const Name& name) {
    return name.is_text ? parser_.unescape(part_->texts[static_cast<std::uint32_t>(name.value)])
                        : std::to_string(name.value);
  }

  ThreadId thread(std::uint32_t track_id) {
    ThreadId& id = threads_[track_id];
    if (!id.valid()) id = thread_of(part_->tracks.keys[track_id]);
    return id;
  }

  ThreadId thread_of(const Track& track) {
    bool own = !track.pid.is_text && !track.on_device;
    ProcessId process_id = own ? process(track.pid.value) : merged_.main_process;
    std::string tid = text_of(track.tid);
    std::string key = own ? tid : text_of(track.pid) + " " + tid;
    auto [slot, is_new] =
        merged_.threads.try_emplace({process_id, !own || track.tid.is_text, key, track.on_device});
    if (!is_new) return slot->second;
    std::int64_t number = track.tid.value;
    bool fits = own && !track.tid.is_text && number > 0 && number < kFirstMadeUp;
    if (!fits) number = next_thread_++;
    slot->second = merged_.assembly.thread(trace_.processes[process_id.value].global_pid | number);
    if (!fits) {
      trace_.threads[slot->second.value].name =
          track.on_device ? annotations_row(text_of(track.pid), tid) : key;
    }
    return slot->second;
  }

  DomainId domain(std::uint32_t local) {
    std::string name = parser_.unescape(part_->texts[part_->domains.keys[local]]);
    auto [slot, is_new] = domain_ids_.try_emplace(name, DomainId{0});
    if (is_new && trace_.domains.size() < UINT16_MAX) {
      slot->second = DomainId::from(trace_.domains.size());
      trace_.domains.push_back(name);
    }
    return slot->second;
  }

  TimeNs time(std::int64_t file_time) const { return {file_time - merged_.zero}; }

  void add_ranges() {
    Part& part = *part_;
    Ranges& to = trace_.ranges;
    Ranges& from = part.ranges;
    auto info_base = static_cast<std::uint32_t>(trace_.range_info.size());
    for (RangeInfo& info : part.infos) {
      if (info.shapes.valid()) info.shapes = string(info.shapes.value);
      if (info.dtypes.valid()) info.dtypes = string(info.dtypes.value);
      trace_.range_info.push_back(info);
    }
    collective_base_ = part_collectives_[&part] =
        static_cast<std::uint32_t>(merged_.collectives.size());
    auto python_base = static_cast<std::uint32_t>(merged_.python.size());
    std::vector<DomainId> domains;
    for (std::uint32_t i = 0; i < part.domains.keys.size(); ++i)
      domains.push_back(DomainId::none());
    for (std::size_t i = 0; i < from.start.size(); ++i) {
      to.start.push_back(time(from.start[i].ns));
      to.end.push_back(time(from.end[i].ns));
      to.name.push_back(string(from.name[i].value));
      to.thread.push_back(thread(from.thread[i].value));
      RangeId carried = from.parent[i];
      if (carried.valid())
        carried.value += carried.value & Part::kPython ? python_base : collective_base_;
      to.parent.push_back(carried);
      RangeInfoId info = from.info[i];
      if (info.valid()) info.value += info_base;
      to.info.push_back(info);
      DomainId& known = domains[from.domain[i].value];
      if (!known.valid()) known = domain(from.domain[i].value);
      to.domain.push_back(known);
      to.flags.push_back(from.flags[i]);
    }
    merged_.python.insert(merged_.python.end(), part.python.begin(), part.python.end());
    for (CollectiveRow row : part.collectives) {
      row.kind = string(row.kind).value;
      row.group = string(row.group).value;
      row.dtype = string(row.dtype).value;
      merged_.collectives.push_back(row);
    }
  }

  DeviceCallKind call_kind(StringId name) {
    if (call_kinds_.size() <= name.value) call_kinds_.resize(trace_.strings.size(), -1);
    std::int8_t& kind = call_kinds_[name.value];
    if (kind < 0) kind = static_cast<std::int8_t>(cuda_call_kind(trace_.strings[name]));
    return static_cast<DeviceCallKind>(kind);
  }

  void add_calls() {
    Calls& to = trace_.calls;
    Calls& from = part_->calls;
    for (std::size_t i = 0; i < from.start.size(); ++i) {
      to.start.push_back(time(from.start[i].ns));
      to.end.push_back(time(from.end[i].ns));
      StringId name = string(from.name[i].value);
      DeviceCallKind kind = call_kind(name);
      to.name.push_back(name);
      to.thread.push_back(thread(from.thread[i].value));
      to.stream.push_back(StreamId::none());
      to.correlation.push_back(from.correlation[i]);
      // An event is identified by the correlation id of the call that recorded it.
      to.sync_id.push_back(kind == DeviceCallKind::kEventRecord ? from.correlation[i] : 0);
      to.bytes.push_back(from.bytes[i]);
      to.kind.push_back(kind);
    }
  }

  void add_rest() {
    Part& part = *part_;
    for (const OverheadRow& row : part.overheads) {
      StringId name = string(row.name);
      const Track& track = part.tracks.keys[row.track];
      auto found = merged_.threads.find(
          {merged_.main_process, track.tid.is_text, text_of(track.tid), false});
      trace_.overheads.push_back({{time(row.start), time(row.end)},
                                  found == merged_.threads.end() ? ThreadId::none() : found->second,
                                  name,
                                  overhead_kind_of(trace_.strings[name])});
    }
    for (const MemoryRow& row : part.memory) {
      std::optional<std::int32_t> device;
      if (row.device >= 0) device = static_cast<std::int32_t>(row.device);
      auto add = [&](const char* name, std::int64_t bytes) {
        if (bytes >= 0)
          series_[{name, merged_.main_process, device}].points.emplace_back(
              time(row.time), static_cast<double>(bytes));
      };
      add("memory.allocated", row.allocated);
      add("memory.reserved", row.reserved);
    }
    for (const CounterRow& row : part.counters) {
      std::string name = parser_.unescape(part.texts[row.name]);
      std::string key = parser_.unescape(part.texts[row.series]);
      if (!key.empty() && key != "value") name += "." + key;
      ProcessId owner = row.pid.is_text ? merged_.main_process : process(row.pid.value);
      series_[{name, owner, std::nullopt}].points.emplace_back(time(row.time), row.value);
    }
    for (const HalfRow& row : part.halves) {
      Half half{row, thread(row.track), string(row.name), domain(row.domain)};
      halves_.push_back(half);
    }
    merged_.syncs.insert(merged_.syncs.end(), part.syncs.begin(), part.syncs.end());
    auto add_flows = [&](std::vector<Merged::Flow>& to, const std::vector<FlowEnd>& from) {
      for (const FlowEnd& flow : from) {
        const Track& track = part.tracks.keys[flow.track];
        auto found = merged_.threads.find(
            {track.pid.is_text ? merged_.main_process : process_or_main(track.pid.value),
             track.tid.is_text, text_of(track.tid), false});
        to.push_back({flow.id,
                      found == merged_.threads.end() ? ThreadId::none() : found->second,
                      time(flow.time),
                      flow.begins,
                      {track.pid.value, track.tid.value}});
      }
    };
    add_flows(merged_.autograd_flows, part.autograd_flows);
    add_flows(merged_.launch_flows, part.launch_flows);
  }

  ProcessId process_or_main(std::int64_t pid) const {
    auto found = merged_.processes.find({false, std::to_string(pid)});
    return found == merged_.processes.end() ? merged_.main_process : found->second;
  }

  /// The process whose calls have the correlation ids of a device's ops, for a file with several
  /// recorded processes.
  ProcessId owner_of(std::int64_t device) {
    if (processes_with_calls_ <= 1) return merged_.main_process;
    if (device_owners_.empty()) find_owners();
    auto found = device_owners_.find(device);
    return found == device_owners_.end() ? merged_.main_process : found->second;
  }

  void find_owners() {
    std::unordered_map<std::uint64_t, std::vector<ProcessId>> callers;
    const Calls& calls = trace_.calls;
    for (std::size_t i = 0; i < calls.start.size(); ++i) {
      if (calls.correlation[i])
        callers[calls.correlation[i]].push_back(trace_.threads[calls.thread[i].value].process);
    }
    std::map<std::int64_t, std::map<ProcessId, int>> votes;
    for (const Part& part : parts_) {
      for (std::size_t i = 0; i < part.ops.start.size(); ++i) {
        auto found = callers.find(part.ops.call[i].value);
        // An id that several processes use does not identify a process.
        if (found != callers.end() && found->second.size() == 1)
          ++votes[part.streams.keys[part.ops.stream[i].value].device][found->second.front()];
      }
    }
    device_owners_[std::numeric_limits<std::int64_t>::min()] = merged_.main_process;
    for (const auto& [device, of_process] : votes) {
      device_owners_[device] =
          std::max_element(of_process.begin(), of_process.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
          })->first;
    }
  }

  StreamId stream(const StreamName& name) {
    auto [slot, is_new] = stream_ids_.try_emplace(name);
    if (is_new) {
      ProcessId owner = owner_of(name.device);
      DeviceId device = merged_.assembly.device(DeviceType::kCuda, owner, name.device);
      slot->second = merged_.assembly.stream(device, owner, name.stream);
    }
    return slot->second;
  }

  void add_ops() {
    DeviceOps& to = trace_.device_ops;
    DeviceOps& from = part_->ops;
    std::vector<StreamId> streams;
    for (const StreamName& name : part_->streams.keys) streams.push_back(stream(name));
    for (std::size_t i = 0; i < from.start.size(); ++i) {
      to.start.push_back(time(from.start[i].ns));
      to.end.push_back(time(from.end[i].ns));
      to.name.push_back(string(from.name[i].value));
      to.stream.push_back(streams[from.stream[i].value]);
      to.call.push_back(from.call[i]);
      merged_.ops_without_correlation += from.call[i].value == 0;
      to.bytes.push_back(from.bytes[i]);
      std::int32_t carried = from.op[i];
      to.op.push_back(carried < 0 ? -1 : carried + static_cast<std::int32_t>(collective_base_));
      to.kind.push_back(from.kind[i]);
      to.source_memory.push_back(from.source_memory[i]);
      to.destination_memory.push_back(from.destination_memory[i]);
      to.blocks.push_back(from.blocks[i]);
      to.block_threads.push_back(from.block_threads[i]);
    }
    std::size_t rows = to.start.size();
    to.flops.resize(rows, 0);
    to.batch.resize(rows, -1);
    to.phase.resize(rows, Phase::kNone);
    to.math_unit.resize(rows, MathUnit::kUnknown);
    to.flags.resize(rows, 0);
  }

  /// Pairs the halves of ranges: B and E nest on their thread, b and e pair by category and id.
  void pair_halves() {
    std::stable_sort(halves_.begin(), halves_.end(),
                     [](const Half& a, const Half& b) { return a.row.time < b.row.time; });
    std::map<std::tuple<bool, std::uint64_t, std::uint64_t>, std::vector<const Half*>> open;
    auto add = [&](const Half& half, std::int64_t end, int flags) {
      Ranges& out = trace_.ranges;
      out.start.push_back(time(half.row.time));
      out.end.push_back(time(end));
      out.name.push_back(half.name);
      out.thread.push_back(half.thread);
      out.parent.push_back(RangeId::none());
      out.info.push_back(RangeInfoId::none());
      out.domain.push_back(half.domain);
      out.flags.push_back(
          static_cast<std::uint8_t>(flags | (half.row.async ? Ranges::kStartEnd : 0)));
    };
    std::int64_t last = merged_.zero;
    for (const Part& part : parts_) last = std::max(last, part.last_time);
    for (const Half& half : halves_) {
      auto& stack = open[{half.row.async, half.row.async ? half.row.id : half.thread.value,
                          half.row.async ? half.domain.value : 0}];
      last = std::max(last, half.row.time);
      if (half.row.begins) {
        stack.push_back(&half);
      } else if (stack.empty()) {
        count(merged_.assembly.losses, Loss::kUnpairedEvent);
      } else {
        add(*stack.back(), half.row.time, 0);
        stack.pop_back();
      }
    }
    for (const auto* ends : {&trace_.ranges.end, &trace_.calls.end, &trace_.device_ops.end}) {
      for (TimeNs end : *ends) last = std::max(last, end.ns + merged_.zero);
    }
    for (const auto& [key, stack] : open) {
      for (const Half* half : stack) {
        add(*half, last, Ranges::kUnfinished);
        count(merged_.assembly.losses, Loss::kUnpairedEvent);
      }
    }
  }

  void add_counters() {
    for (auto& [key, series] : series_) {
      CounterSeries& out = trace_.counters.emplace_back();
      out.name = std::get<0>(key);
      out.process = std::get<1>(key);
      out.device = std::get<2>(key);
      bool memory = out.name.starts_with("memory.");
      out.unit = memory ? "bytes" : "";
      out.description = memory ? "From the framework's allocator." : "Recorded counter.";
      std::stable_sort(series.points.begin(), series.points.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [at, value] : series.points) {
        out.time.push_back(at);
        out.value.push_back(value);
      }
    }
  }

  void apply_metadata() {
    for (auto& [texts, rows] : metadata_) {
      auto text = [&, &of_part = texts](const Name& name) {
        return name.is_text ? parser_.unescape(of_part[static_cast<std::uint32_t>(name.value)])
                            : std::to_string(name.value);
      };
      for (const MetadataRow& row : rows) {
        std::string_view what = texts[row.what];
        std::string value = parser_.unescape(texts[row.value]);
        while (!value.empty() && value.back() == ' ') value.pop_back();
        auto process = merged_.processes.find({row.track.pid.is_text, text(row.track.pid)});
        if (what == "process_name" && process != merged_.processes.end())
          trace_.processes[process->second.value].name = value;
        if (what != "thread_name") continue;
        if (process != merged_.processes.end()) {
          auto thread = merged_.threads.find(
              {process->second, row.track.tid.is_text, text(row.track.tid), false});
          if (thread != merged_.threads.end()) trace_.threads[thread->second.value].name = value;
        }
        auto stream = stream_ids_.find({row.track.pid.value, row.track.tid.value});
        if (!row.track.pid.is_text && !row.track.tid.is_text && stream != stream_ids_.end())
          trace_.streams[stream->second.value].name = value;
      }
    }
  }

  Merged& merged_;
  Trace& trace_;
  std::vector<Part>& parts_;
  Parser parser_;
  Part* part_ = nullptr;
  std::vector<StringId> strings_;  ///< of the part
  std::vector<ThreadId> threads_;  ///< of the part, by track
  std::uint32_t collective_base_ = 0;
  std::map<const Part*, std::uint32_t> part_collectives_;
  std::map<std::string, DomainId> domain_ids_;
  std::vector<std::int8_t> call_kinds_;  ///< by name; -1: not looked up yet
  std::size_t processes_with_calls_ = 0;
  std::map<std::int64_t, ProcessId> device_owners_;
  std::map<StreamName, StreamId> stream_ids_;
  std::vector<Half> halves_;
  std::map<SeriesKey, Series> series_;
  std::vector<std::pair<Texts, std::vector<MetadataRow>>> metadata_;
  std::int64_t next_process_ = kFirstMadeUp;
  std::int64_t next_thread_ = kFirstMadeUp;
};

}  // namespace

void merge_parts(Merged& merged, std::vector<Part>& parts) {
  Merge(merged, parts).run();
}

}  // namespace headway::trace::kineto
