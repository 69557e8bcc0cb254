// SPDX-License-Identifier: MIT
// Planes of GPUs and TPUs. A GPU's plane has one line per stream; a TPU's plane has the program's
// runs, the ops in them, and the steps.
#include <charconv>

#include "trace/import/xplane/build.h"
#include "trace/import/xplane/vocabulary.h"

namespace headway::trace::xplane {
namespace {

using namespace load_detail;

/// "/device:GPU:3" -> ("GPU", 3); "/device:TPU:0 SparseCore 1" -> ("TPU", 0).
struct PlaneName {
  std::string_view type;
  std::int32_t ordinal = -1;
  std::string_view part;  ///< " SparseCore 1"; empty: the device itself
};

PlaneName parse(std::string_view name) {
  constexpr std::string_view kPrefix = "/device:";
  PlaneName result;
  if (!name.starts_with(kPrefix)) return result;
  name.remove_prefix(kPrefix.size());
  std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return result;
  result.type = name.substr(0, colon);
  std::string_view rest = name.substr(colon + 1);
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), result.ordinal);
  if (error != std::errc{} || result.ordinal < 0) result.ordinal = -1;
  result.part = rest.substr(static_cast<std::size_t>(end - rest.data()));
  return result;
}

/// "Stream #17(Kernel)" -> 17; nullopt for lines that are derived from other lines.
std::optional<std::int64_t> stream_of(const Line& line) {
  for (std::string_view name : {line.name, line.display_name}) {
    if (!name.starts_with("Stream")) continue;
    std::size_t digits = name.find_first_of("0123456789");
    std::int64_t number = line.id;
    if (digits != std::string_view::npos)
      std::from_chars(name.data() + digits, name.data() + name.size(), number);
    return number;
  }
  return std::nullopt;
}

/// The op's own name from its HLO text: "fusion.3" of "%fusion.3 = bf16[8]{0} fusion(...)".
std::string_view hlo_name(const EventKind& kind) {
  if (!kind.display_name.empty()) return kind.display_name;
  std::string_view name = kind.name.substr(0, kind.name.find(" = "));
  if (name.starts_with('%')) name.remove_prefix(1);
  return name;
}

std::int64_t positive(std::int64_t value) {
  return std::max<std::int64_t>(0, value);
}

class DevicePlanes {
 public:
  explicit DevicePlanes(Building& building) : building_(building) {}

  void run() {
    for (const Plane& plane : building_.space.planes) {
      PlaneName name = parse(plane.name);
      if (name.ordinal < 0 || name.type == "CUSTOM" || name.type == "CPU") continue;
      device_ = building_.assembly.device(DeviceType::kCuda, building_.process, name.ordinal);
      describe(plane, name);
      std::size_t before = building_.trace.device_ops.size();
      if (name.type == "GPU") {
        for (const Line& line : plane.lines) add_stream(plane, line, name.ordinal);
      } else {
        add_programs(plane, name);
      }
      building_.accelerator |= building_.trace.device_ops.size() > before;
    }
  }

 private:
  void describe(const Plane& plane, PlaneName name) {
    Device& device = building_.trace.devices[device_.value];
    const Stats& stats = plane.stats;
    auto small = [&](Stat stat) {
      std::int64_t value = stats.number(stat);
      return value > 0 && value < INT32_MAX ? static_cast<std::int32_t>(value) : 0;
    };
    std::string_view vendor = stats.text(Stat::kVendor);
    std::string_view type = stats.text(Stat::kDeviceType);
    if (device.name.empty()) {
      device.name = type.empty()
                        ? std::string(vendor) + (vendor.empty() ? "" : " ") + std::string(name.type)
                        : std::string(type);
    }
    if (int cores = small(Stat::kCoreCount)) device.cores = cores;
    if (stats.has(Stat::kMemorySize))
      device.memory_bytes = positive(stats.number(Stat::kMemorySize));
    if (stats.has(Stat::kMemoryBandwidth))
      device.memory_bytes_per_second = positive(stats.number(Stat::kMemoryBandwidth));
    constexpr std::int64_t kHzOfKhz = 1000;
    device.max_clock_hz = std::max(device.max_clock_hz, small(Stat::kClockRate) * kHzOfKhz);
    // AMD's architecture numbers (gfx942 is "9.4") have another meaning than CUDA's compute
    // capability.
    if (vendor == "AMD") return;
    device.compute_major = std::max(device.compute_major, small(Stat::kCapabilityMajor));
    device.compute_minor = std::max(device.compute_minor, small(Stat::kCapabilityMinor));
  }

  struct Timed {
    Interval when;
    OpRow row;
    std::string_view collective;  ///< kind of collective; empty: none
    std::int64_t collective_bytes = conventions::kAbsent;
  };

  template <class Each>
  void for_each(const Plane& plane, const Line& line, Each each) {
    for (std::string_view message : line.events) {
      plane.read(message, event_);
      const EventKind* kind = plane.kind(event_.kind);
      if (!kind) {
        count(building_.assembly.losses, Loss::kDanglingRow);
        continue;
      }
      Interval when;
      // Aggregated events have no times.
      if (event_.aggregated || !building_.times(line, event_, when)) continue;
      plane.read(*kind, event_, stats_);
      each(*kind, when);
    }
  }

  void add(const Timed& op, Interval when) {
    building_.add_op(when, op.row);
    if (!op.collective.empty()) building_.add_collective(op.collective, op.collective_bytes);
  }

  void add_stream(const Plane& plane, const Line& line, std::int32_t ordinal) {
    std::optional<std::int64_t> number = stream_of(line);
    if (!number) return;
    StreamId stream = building_.assembly.stream(device_, building_.process, *number);
    for_each(plane, line, [&](const EventKind& kind, Interval when) {
      Timed op;
      op.row.stream = stream;
      op.row.name = building_.string(kind.name);
      op.row.correlation = static_cast<std::uint32_t>(stats_.number(Stat::kCorrelation));
      fill_kernel_or_copy(kind, ordinal, op);
      std::string_view hlo = stats_.text(Stat::kHloOp);
      if (!hlo.empty()) {
        std::string_view path = stats_.text(Stat::kName);
        op.row.phase = phase_of_path(path);
        op.row.graph_op =
            building_.graph_op(stats_.text(Stat::kHloModule), hlo,
                               path.empty() ? without_number(hlo) : last_part(path), op.row.phase);
      } else if (std::string_view path = stats_.text(Stat::kTfOp); !path.empty()) {
        std::size_t colon = path.rfind(':');
        op.row.phase = phase_of_path(path);
        op.row.graph_op = building_.graph_op(
            "", path.substr(0, colon),
            colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1),
            op.row.phase);
      }
      add(op, when);
    });
  }

  void fill_kernel_or_copy(const EventKind& kind, std::int32_t ordinal, Timed& op) {
    std::string_view copy_details = stats_.text(Stat::kMemcpyDetails);
    std::string_view set_details = stats_.text(Stat::kMemsetDetails);
    if (!copy_details.empty() || kind.name.starts_with("Memcpy")) {
      Copy copy = copy_of(kind.name, copy_details);
      // This is a copy between two devices of this host.
      if (copy.kind == DeviceOpKind::kCopyDeviceToDevice && copy.destination_device >= 0 &&
          copy.destination_device != ordinal && has_device(copy.destination_device))
        copy.kind = DeviceOpKind::kCopyPeer;
      op.row.kind = copy.kind;
      op.row.source = copy.source;
      op.row.destination = copy.destination;
      op.row.bytes = copy.bytes;
      return;
    }
    if (!set_details.empty() || kind.name.starts_with("Memset")) {
      op.row.kind = DeviceOpKind::kMemset;
      op.row.destination = MemoryKind::kDevice;
      op.row.bytes = positive(detail(set_details, "size:", detail(set_details, "num_bytes:", 0)));
      return;
    }
    std::string_view details = stats_.text(Stat::kKernelDetails);
    op.row.blocks = extent(details, "grid:");
    op.row.block_threads =
        static_cast<std::uint16_t>(std::min<std::uint32_t>(extent(details, "block:"), UINT16_MAX));
    op.collective = collective_kind(stats_.text(Stat::kHloOp));
    if (!op.collective.empty()) op.row.kind = DeviceOpKind::kCommunication;
  }

  bool has_device(std::int64_t ordinal) const {
    return std::any_of(building_.space.planes.begin(), building_.space.planes.end(),
                       [&](const Plane& plane) {
                         PlaneName name = parse(plane.name);
                         return name.type == "GPU" && name.ordinal == ordinal;
                       });
  }

  /// One run of a program.
  struct Run {
    Interval when;
    std::uint32_t correlation = 0;
    std::string_view module;
  };

  void add_programs(const Plane& plane, PlaneName name) {
    std::string prefix = std::string(name.type) + " " + std::to_string(name.ordinal);
    prefix += name.part;
    runs_.clear();
    for (const Line& line : plane.lines) {
      if (line.name == "XLA Modules") add_runs(plane, line, prefix + " programs");
    }
    std::sort(runs_.begin(), runs_.end(),
              [](const Run& a, const Run& b) { return a.when.begin < b.when.begin; });
    // A part of the device (such as a SparseCore) works in parallel to it, on its own streams.
    std::string of_part(name.part);
    std::int64_t first = name.part.empty() ? 0 : 2 * ++parts_[device_];
    for (const Line& line : plane.lines) {
      if (line.name == "Steps" && name.part.empty()) add_steps(plane, line, prefix + " steps");
      if (line.name == "XLA Ops") add_program_ops(plane, line, first, "XLA ops" + of_part);
      if (line.name == "Async XLA Ops")
        add_program_ops(plane, line, first + 1, "Asynchronous XLA ops" + of_part);
    }
  }

  /// Adds the runs. The call that enqueued a run is the host's event with the same run id, else the
  /// begin of the run itself.
  void add_runs(const Plane& plane, const Line& line, const std::string& thread) {
    find_launches();
    for_each(plane, line, [&](const EventKind& kind, Interval when) {
      Run run{when, 0, kind.name.substr(0, kind.name.find('('))};
      auto launch = launches_.find(stats_.number(Stat::kRunId));
      if (stats_.has(Stat::kRunId) && launch != launches_.end() &&
          launch->second.when.begin <= when.begin) {
        Launch& from = launch->second;
        if (from.correlation == 0) {
          from.correlation = building_.next_correlation();
          building_.add_call(building_.thread(from.thread, from.thread_name), from.when, from.name,
                             DeviceCallKind::kGraphLaunch, from.correlation);
        }
        run.correlation = from.correlation;
      } else {
        run.correlation = building_.next_correlation();
        building_.add_call(building_.device_thread(thread), {when.begin, when.begin},
                           building_.string(run.module), DeviceCallKind::kGraphLaunch,
                           run.correlation);
      }
      runs_.push_back(run);
    });
  }

  void find_launches() {
    if (launches_found_) return;
    launches_found_ = true;
    for (const Plane& plane : building_.space.planes) {
      if (!plane.name.starts_with("/host:")) continue;
      for (const Line& line : plane.lines) {
        for_each(plane, line, [&](const EventKind& kind, Interval when) {
          if (!stats_.has(Stat::kRunId)) return;
          auto [slot, is_new] = launches_.try_emplace(stats_.number(Stat::kRunId));
          if (!is_new && slot->second.when.begin <= when.begin) return;
          slot->second = {when, line.id, line.name, building_.string(kind.name), 0};
        });
      }
    }
  }

  void add_steps(const Plane& plane, const Line& line, const std::string& thread) {
    std::int64_t number = 0;
    for_each(plane, line, [&](const EventKind& kind, Interval when) {
      std::int64_t step = number++;
      std::from_chars(kind.name.data(), kind.name.data() + kind.name.size(), step);
      building_.device_steps.push_back({thread, when, stats_.number(Stat::kStepNumber, step)});
    });
  }

  void add_program_ops(const Plane& plane, const Line& line, std::int64_t ordinal,
                       const std::string& name) {
    const bool asynchronous = ordinal % 2 == 1;
    StreamId stream = building_.assembly.stream(device_, building_.process, ordinal);
    building_.trace.streams[stream.value].name = name;
    std::vector<Timed> ops;
    for_each(plane, line, [&](const EventKind& kind, Interval when) {
      Timed op;
      op.when = when;
      op.row.stream = stream;
      std::string_view hlo = hlo_name(kind);
      std::string_view category = stats_.text(Stat::kHloCategory);
      std::string_view path = stats_.text(Stat::kTfOp);
      op.row.name = building_.string(hlo);
      op.row.phase = phase_of_path(path);
      op.row.bytes = positive(stats_.number(Stat::kBytesAccessed));
      op.row.flops = positive(stats_.number(Stat::kFlops));
      // The compiler names matrix products and convolutions "convolution"; both run on the matrix
      // unit.
      if (category.find("convolution") != std::string_view::npos)
        op.row.math_unit = MathUnit::kTensor;
      std::string_view collective = collective_kind(hlo);
      if (collective.empty()) collective = collective_kind(category);
      if (!collective.empty()) {
        op.row.kind = DeviceOpKind::kCommunication;
        if (!asynchronous && !is_done_half(hlo)) {
          op.collective = collective;
          op.collective_bytes = result_bytes(kind.name);
        }
      } else if (asynchronous || without_number(hlo).starts_with("copy-")) {
        op.row.kind = DeviceOpKind::kCopyDeviceToDevice;
      }
      const Run* run = run_at(when.begin);
      if (run) op.row.correlation = run->correlation;
      op.row.graph_op =
          building_.graph_op(run ? run->module : std::string_view(), hlo,
                             category.empty() ? without_number(hlo) : category, op.row.phase);
      ops.push_back(op);
    });
    std::stable_sort(ops.begin(), ops.end(), [](const Timed& a, const Timed& b) {
      return a.when.begin != b.when.begin ? a.when.begin < b.when.begin : a.when.end > b.when.end;
    });
    if (asynchronous) {
      for (const Timed& op : ops) add(op, op.when);
      return;
    }
    own_times(ops, [&](std::size_t i, Interval when) { add(ops[i], when); });
  }

  const Run* run_at(TimeNs time) const {
    auto after = std::upper_bound(runs_.begin(), runs_.end(), time,
                                  [](TimeNs t, const Run& run) { return t < run.when.begin; });
    if (after == runs_.begin()) return nullptr;
    return &*(after - 1);
  }

  struct Launch {
    Interval when;
    std::int64_t thread = 0;
    std::string_view thread_name;
    StringId name;
    std::uint32_t correlation = 0;
  };

  Building& building_;
  DeviceId device_;
  Event event_;
  Stats stats_;
  std::vector<Run> runs_;
  std::map<DeviceId, std::int64_t> parts_;             ///< number of planes of parts seen so far
  std::unordered_map<std::int64_t, Launch> launches_;  ///< by run id
  bool launches_found_ = false;
};

}  // namespace

void add_device_planes(Building& building) {
  DevicePlanes(building).run();
}

}  // namespace headway::trace::xplane
