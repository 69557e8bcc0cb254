// SPDX-License-Identifier: MIT
// Planes of the host: one line per thread. Without an accelerator the CPU is the device: the operators
// that its threads run become ops of a host device.
#include <algorithm>
#include <charconv>

#include "trace/import/xplane/build.h"
#include "trace/import/xplane/vocabulary.h"
#include "trace/load/cuda_api.h"
#include "trace/load/foreign_values.h"

namespace headway::trace::xplane {
namespace {

using namespace load_detail;

constexpr std::uint32_t kNoExtra = UINT32_MAX;

/// Values that only few events have beside their name.
struct Extra {
  std::int64_t correlation = 0;
  std::int64_t step = conventions::kAbsent;
  std::int64_t hand_over = 0;  ///< id that joins a hand-over and its region
  std::int64_t element = 0;
  std::int64_t allocated = -1;
  std::int64_t reserved = -1;
  std::int32_t device = 0;
  std::int32_t graph_op = -1;
  Phase phase = Phase::kNone;
  std::string_view collective;
};

struct HostEvent {
  Interval when;
  StringId name;
  HostRole role = HostRole::kRange;
  RangeKind stage = RangeKind::kOther;
  std::uint32_t extra = kNoExtra;
};

/// Work that a thread of a pool took from another thread.
struct Region {
  Interval when;
  std::int64_t hand_over = 0;
};

struct HostLine {
  ThreadId thread;
  bool makes_input = false;
  bool waits_for_input = false;   ///< a thread of tf.data that takes batches for other threads
  std::vector<HostEvent> events;  ///< by start, longer first
  std::vector<Region> regions;    ///< by start
};

struct Place {
  std::uint32_t line = UINT32_MAX;
  TimeNs time;
  bool valid() const { return line != UINT32_MAX; }
};

class HostPlanes {
 public:
  explicit HostPlanes(Building& building) : building_(building) {}

  void run() {
    for (const Plane& plane : building_.space.planes) {
      // /host:metadata has only the texts of the programs.
      if (!plane.name.starts_with("/host:") || plane.name == "/host:metadata") continue;
      kinds_.clear();
      for (const Line& line : plane.lines) read(plane, line);
    }
    for (HostLine& line : lines_) find_regions(line);
    number_batches();
    for (std::uint32_t i = 0; i < lines_.size(); ++i) add(i);
    if (!any_step_) add_device_steps();
  }

 private:
  struct Kind {
    StringId name;
    HostRole role = HostRole::kRange;
    RangeKind stage = RangeKind::kOther;
    std::int32_t graph_op = -1;  ///< for operators of the framework
    Phase phase = Phase::kNone;
    std::string_view collective;
  };

  const Kind& known(std::int64_t id, const EventKind& kind) {
    auto [slot, is_new] = kinds_.try_emplace(id);
    Kind& known = slot->second;
    if (!is_new) return known;
    known.role = host_role(kind.name, kind.display_name);
    if (known.role == HostRole::kPython) {
      known.name = building_.string(python_name(kind.name));
    } else {
      known.name = building_.string(kind.name);
    }
    if (known.role == HostRole::kIterator || known.role == HostRole::kFrameworkOp)
      known.stage = input_stage(kind.name);
    if (known.role == HostRole::kFrameworkOp && !building_.accelerator) {
      std::size_t colon = kind.name.rfind(':');
      std::string_view type = kind.name.substr(colon + 1);
      std::string_view path = kind.name.substr(0, colon);
      known.phase = phase_of_path(path);
      known.collective = collective_kind(type);
      known.graph_op = building_.graph_op("", path, type, known.phase);
      known.name = building_.string(type);
    }
    return known;
  }

  void read(const Plane& plane, const Line& line) {
    if (line.events.empty()) return;
    std::string_view name = line.display_name.empty() ? line.name : line.display_name;
    HostLine& out = lines_.emplace_back();
    out.thread = building_.thread(line.id, name);
    out.makes_input = makes_input(name);
    out.waits_for_input = waits_for_input(name);
    out.events.reserve(line.events.size());
    Event event;
    for (std::string_view message : line.events) {
      plane.read(message, event);
      const EventKind* kind = plane.kind(event.kind);
      if (!kind) {
        count(building_.assembly.losses, Loss::kDanglingRow);
        continue;
      }
      HostEvent row;
      if (event.aggregated || !building_.times(line, event, row.when)) continue;
      const Kind& what = known(event.kind, *kind);
      row.name = what.name;
      row.role = what.role;
      row.stage = what.stage;
      if (what.graph_op >= 0 || !event.stats.empty() || !kind->stats.empty()) {
        plane.read(*kind, event, stats_);
        row.extra = extra_of(what);
      }
      if (row.role == HostRole::kHandOver && row.extra != kNoExtra)
        hand_overs_[extras_[row.extra].hand_over] = {static_cast<std::uint32_t>(lines_.size() - 1),
                                                     row.when.begin};
      if (row.role != HostRole::kNoise) out.events.push_back(row);
    }
    std::stable_sort(out.events.begin(), out.events.end(),
                     [](const HostEvent& a, const HostEvent& b) {
                       return a.when.begin != b.when.begin ? a.when.begin < b.when.begin
                                                           : a.when.end > b.when.end;
                     });
  }

  std::uint32_t extra_of(const Kind& what) {
    Extra extra;
    bool says = false;
    auto take = [&](std::int64_t& to, Stat stat) {
      if (!stats_.has(stat)) return;
      to = stats_.number(stat);
      says = true;
    };
    switch (what.role) {
      case HostRole::kHandOver:
        take(extra.hand_over, Stat::kProducerId);
        break;
      case HostRole::kRegionBegin:
        take(extra.hand_over, Stat::kConsumerId);
        break;
      case HostRole::kPrefetchProduce:
      case HostRole::kPrefetchConsume:
        take(extra.element, Stat::kElementId);
        break;
      case HostRole::kMemory: {
        take(extra.allocated, Stat::kBytesAllocated);
        take(extra.reserved, Stat::kBytesReserved);
        std::string_view allocator = stats_.text(Stat::kAllocator);
        extra.device = -1;
        if (allocator.starts_with("GPU_"))
          std::from_chars(allocator.data() + 4, allocator.data() + allocator.size(), extra.device);
        break;
      }
      case HostRole::kFrameworkOp:
        extra.graph_op = what.graph_op;
        extra.phase = what.phase;
        extra.collective = what.collective;
        says = what.graph_op >= 0;
        break;
      default:
        take(extra.step, Stat::kStepNumber);
        take(extra.correlation, Stat::kCorrelation);
        break;
    }
    std::string_view hlo = stats_.text(Stat::kHloOp);
    if (!hlo.empty() && !building_.accelerator) {
      std::string_view path = stats_.text(Stat::kTfOp);
      says = true;
      extra.device = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(stats_.number(Stat::kDeviceOrdinal), 0, INT32_MAX));
      extra.phase = phase_of_path(path);
      extra.collective = collective_kind(hlo);
      extra.graph_op =
          building_.graph_op(stats_.text(Stat::kHloModule), hlo,
                             path.empty() ? without_number(hlo) : last_part(path), extra.phase);
    }
    if (!says) return kNoExtra;
    extras_.push_back(extra);
    return static_cast<std::uint32_t>(extras_.size() - 1);
  }

  void find_regions(HostLine& line) {
    for (const HostEvent& event : line.events) {
      bool is_open = !line.regions.empty() && line.regions.back().when.end == TimeNs::max();
      if (event.role != HostRole::kRegionBegin && event.role != HostRole::kRegionEnd) continue;
      if (is_open) line.regions.back().when.end = event.when.begin;
      if (event.role == HostRole::kRegionBegin && event.extra != kNoExtra)
        line.regions.push_back({{event.when.begin, TimeNs::max()}, extras_[event.extra].hand_over});
    }
  }

  const Region* region_at(const HostLine& line, TimeNs time) const {
    auto after = std::upper_bound(line.regions.begin(), line.regions.end(), time,
                                  [](TimeNs t, const Region& r) { return t < r.when.begin; });
    if (after == line.regions.begin() || (after - 1)->when.end < time) return nullptr;
    return &*(after - 1);
  }

  /// Where the work of this region was handed over.
  Place source_of(const Region& region) const {
    auto found = hand_overs_.find(region.hand_over);
    if (found == hand_overs_.end() || found->second.time > region.when.begin) return {};
    return found->second;
  }

  /// The thread that started the work, and when: pools may hand work on to other pools. Work that
  /// follows a wait for input in a pool starts when the wait ends; it counts as started by the thread
  /// that waits for all of the work.
  Place origin(std::uint32_t line, TimeNs time) const {
    Place origin;
    std::optional<TimeNs> after_wait;
    constexpr int kMostHandOvers = 256;
    for (int i = 0; i < kMostHandOvers; ++i) {
      const Region* region = region_at(lines_[line], time);
      Place from = region ? source_of(*region) : Place{};
      if (!from.valid()) break;
      origin = from;
      line = from.line;
      time = from.time;
      if (lines_[line].waits_for_input && !after_wait) after_wait = time;
    }
    if (after_wait) origin.time = *after_wait;
    return origin;
  }

  /// Elements that a thread outside of tf.data takes are batches; they are numbered in the order in
  /// which they are taken.
  void number_batches() {
    std::vector<std::pair<TimeNs, std::int64_t>> taken;
    for (const HostLine& line : lines_) {
      if (line.makes_input) continue;
      for (const HostEvent& event : line.events) {
        if (event.role == HostRole::kPrefetchConsume && event.extra != kNoExtra)
          taken.emplace_back(event.when.begin, extras_[event.extra].element);
      }
    }
    std::sort(taken.begin(), taken.end());
    for (const auto& [time, element] : taken)
      batches_.try_emplace(element, static_cast<std::int64_t>(batches_.size()));
  }

  std::int64_t batch_of(const HostEvent& event) const {
    if (event.extra == kNoExtra) return conventions::kAbsent;
    auto found = batches_.find(extras_[event.extra].element);
    return found == batches_.end() ? conventions::kAbsent : found->second;
  }

  struct Op {
    Interval when;
    const HostEvent* event;
  };

  void add(std::uint32_t index) {
    const HostLine& line = lines_[index];
    std::vector<Op> ops;
    TimeNs step_end = TimeNs::min();
    TimeNs wait_end = TimeNs::min();
    std::size_t wait_info = 0;
    for (const HostEvent& event : line.events) {
      if (is_op(index, event)) {
        ops.push_back({event.when, &event});
        continue;
      }
      const Extra* extra = event.extra == kNoExtra ? nullptr : &extras_[event.extra];
      if (event.role == HostRole::kHandOver || event.role == HostRole::kRegionBegin ||
          event.role == HostRole::kRegionEnd)
        continue;
      if (event.role == HostRole::kMemory) {
        if (extra) add_memory(event, *extra);
        continue;
      }
      if (event.role == HostRole::kApiCall || (extra && extra->correlation > 0)) {
        std::string_view name = building_.trace.strings[event.name];
        building_.add_call(line.thread, event.when, event.name, cuda_call_kind(name),
                           extra ? static_cast<std::uint32_t>(extra->correlation) : 0);
        continue;
      }
      if (event.role == HostRole::kPrefetchConsume && event.when.begin < wait_end)
        building_.trace.range_info[wait_info].batch = batch_of(event);
      RangeInfo info = info_of(line, event, extra, step_end);
      bool wait = info.kind == RangeKind::kInputWait && event.when.begin >= wait_end;
      bool says = info.kind != RangeKind::kOther;
      std::string_view domain = event.role == HostRole::kPython ? "python_function"
                                : info.kind == RangeKind::kStep ? "user_annotation"
                                                                : "TraceMe";
      ThreadId thread = line.thread;
      if (wait && line.waits_for_input) {
        Place from = origin(index, event.when.begin);
        if (from.valid()) thread = lines_[from.line].thread;
      }
      RangeInfo& added =
          building_.add_range(thread, event.when, event.name, building_.domain(domain), says);
      if (says) added = info;
      if (wait) {
        wait_end = event.when.end;
        wait_info = building_.trace.range_info.size() - 1;
      }
    }
    add_ops(index, ops);
  }

  bool is_op(std::uint32_t index, const HostEvent& event) const {
    if (building_.accelerator || event.extra == kNoExtra) return false;
    const Extra& extra = extras_[event.extra];
    if (extra.graph_op < 0 || lines_[index].makes_input) return false;
    Place from = origin(index, event.when.begin);
    return !from.valid() || !lines_[from.line].makes_input;
  }

  RangeInfo info_of(const HostLine& line, const HostEvent& event, const Extra* extra,
                    TimeNs& step_end) {
    RangeInfo info;
    if (extra && extra->step >= 0 && event.when.begin >= step_end && !line.makes_input) {
      info.kind = RangeKind::kStep;
      info.step = load_detail::id_of(extra->step);
      step_end = event.when.end;
      any_step_ = true;
    } else if (event.role == HostRole::kInputWait && !line.makes_input) {
      info.kind = RangeKind::kInputWait;
      info.phase = Phase::kInput;
    } else if (event.role == HostRole::kPrefetchProduce && batch_of(event) >= 0) {
      info.kind = RangeKind::kBatch;
      info.phase = Phase::kInput;
      info.batch = batch_of(event);
    } else if (event.stage != RangeKind::kOther) {
      info.kind = event.stage;
      info.phase = Phase::kInput;
    }
    return info;
  }

  void add_memory(const HostEvent& event, const Extra& extra) {
    std::optional<std::int32_t> device;
    if (extra.device >= 0) device = extra.device;
    if (extra.allocated >= 0)
      building_.add_counter("memory.allocated", device, event.when.begin.ns, extra.allocated);
    if (extra.reserved > 0)
      building_.add_counter("memory.reserved", device, event.when.begin.ns, extra.reserved);
  }

  void add_ops(std::uint32_t index, const std::vector<Op>& ops) {
    own_times(ops, [&](std::size_t i, Interval when) {
      const HostEvent& event = *ops[i].event;
      const Extra& extra = extras_[event.extra];
      DeviceId device =
          building_.assembly.device(DeviceType::kHost, building_.process, extra.device);
      building_.trace.devices[device.value].name = "Processor";
      StreamId stream = building_.assembly.stream(device, building_.process, index);
      Stream& row = building_.trace.streams[stream.value];
      if (row.name.empty()) row.name = building_.trace.threads[lines_[index].thread.value].name;
      OpRow op;
      op.name = event.name;
      op.stream = stream;
      op.graph_op = extra.graph_op;
      op.phase = extra.phase;
      if (!extra.collective.empty()) op.kind = DeviceOpKind::kCommunication;
      op.correlation = launch(index, when.begin);
      building_.add_op(when, op);
      if (!extra.collective.empty() && !is_done_half(building_.trace.strings[event.name]))
        building_.add_collective(extra.collective, conventions::kAbsent);
    });
  }

  /// The call that started an op: the hand-over by a thread outside of the pools, which goes on
  /// without waiting; without a hand-over, the thread that runs the op started it.
  std::uint32_t launch(std::uint32_t line, TimeNs time) {
    Place from = origin(line, time);
    if (!from.valid()) {
      std::uint32_t id = building_.next_correlation();
      building_.add_call(lines_[line].thread, {time, time}, building_.string("run operator"),
                         DeviceCallKind::kLaunch, id);
      return id;
    }
    auto [slot, is_new] = launches_.try_emplace({from.line, from.time.ns}, 0);
    if (is_new) {
      slot->second = building_.next_correlation();
      building_.add_call(lines_[from.line].thread, {from.time, from.time},
                         building_.string("hand over to pool"), DeviceCallKind::kGraphLaunch,
                         slot->second);
    }
    return slot->second;
  }

  void add_device_steps() {
    for (const Building::DeviceStep& step : building_.device_steps) {
      RangeInfo& info = building_.add_range(building_.device_thread(step.thread), step.when,
                                            building_.string("step " + std::to_string(step.number)),
                                            building_.domain("user_annotation"), true);
      info.kind = RangeKind::kStep;
      info.step = load_detail::id_of(step.number);
    }
  }

  Building& building_;
  Stats stats_;
  std::unordered_map<std::int64_t, Kind> kinds_;  ///< of the current plane
  std::vector<HostLine> lines_;
  std::vector<Extra> extras_;
  std::unordered_map<std::int64_t, Place> hand_overs_;
  std::unordered_map<std::int64_t, std::int64_t> batches_;  ///< number of the batch, by element
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> launches_;
  bool any_step_ = false;
};

}  // namespace

void add_host_planes(Building& building) {
  HostPlanes(building).run();
}

}  // namespace headway::trace::xplane
