// SPDX-License-Identifier: MIT
#include "gui/models/figures/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analyzer/hardware/gpus.h"
#include "analyzer/kernels/families.h"
#include "analyzer/stats/labels.h"
#include "analyzer/stats/summary.h"
#include "common/format.h"
#include "gui/models/tables/scope.h"
#include "gui/models/text/display_text.h"
#include "gui/models/text/vocabulary.h"

namespace headway::gui {
namespace {

using analyzer::Cell;
using analyzer::ColumnKind;
using analyzer::DeviceLimits;
using analyzer::Precision;
using trace::MathUnit;

struct Group {
  std::string name;
  DurationNs time;        ///< time of all kernels of the group
  DurationNs known_time;  ///< time of kernels whose bytes and operations are known
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  bool on_tensor = false;
  Precision precision = Precision::kUnknown;
  DurationNs longest{-1};
  trace::DeviceOpId op;
};

class Gatherer {
 public:
  Gatherer(const trace::Trace& trace, const analyzer::Analysis& analysis, OpGrouping grouping)
      : trace_(trace),
        analysis_(analysis),
        grouping_(grouping),
        kernels_(trace),
        device_time_(trace.devices.size()) {}

  void add(trace::DeviceOpId op) {
    const trace::DeviceOps& ops = trace_.device_ops;
    if (analyzer::is_copy_or_set(ops.kind[op.value]) ||
        ops.kind[op.value] == trace::DeviceOpKind::kCommunication)
      return;
    Group& group = group_of(op);
    DurationNs length = ops.interval(op).length();
    group.time += length;
    ++group.count;
    device_time_[trace_.streams[ops.stream[op.value].value].device.value] += length;
    if (length > group.longest) {
      group.longest = length;
      group.op = op;
      analyzer::KernelTraits traits = kernels_.of(op);
      group.on_tensor = traits.math_unit == MathUnit::kTensor;
      group.precision = traits.precision;
    }
    if (ops.bytes[op.value] <= 0 || ops.flops[op.value] <= 0) return;
    group.known_time += length;
    group.bytes += ops.bytes[op.value];
    group.flops += ops.flops[op.value];
  }

  std::vector<Group> finish() {
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const Group& a, const Group& b) { return a.time > b.time; });
    return std::move(groups_);
  }
  trace::DeviceId busiest() const {
    auto most = std::max_element(device_time_.begin(), device_time_.end());
    return trace::DeviceId::from(static_cast<std::size_t>(most - device_time_.begin()));
  }

 private:
  Group& group_of(trace::DeviceOpId op) {
    std::uint64_t key = trace_.device_ops.name[op.value].value;
    std::uint32_t model_op = 0;
    if (grouping_ != OpGrouping::kKernel) {
      model_op = op.value < analysis_.attribution.op_of.size()
                     ? analysis_.attribution.op_of[op.value].value
                     : 0;
      key = grouping_ == OpGrouping::kOp ? model_op : type_of(model_op);
    }
    std::uint32_t index = keys_.of(key);
    if (index == groups_.size())
      groups_.emplace_back().name = display_text(
          grouping_ == OpGrouping::kKernel ? trace_.strings[trace_.device_ops.name[op.value]]
          : grouping_ == OpGrouping::kOp   ? std::string_view(ops()[model_op].name)
                                           : std::string_view(type_name(model_op)));
    return groups_[index];
  }

  const std::vector<analyzer::ModelOp>& ops() const { return analysis_.attribution.ops; }
  std::string type_name(std::uint32_t op) const {
    return ops()[op].type.empty() ? "(unknown type)" : ops()[op].type;
  }
  /// A number for the type of an op, found once per op.
  std::uint64_t type_of(std::uint32_t op) {
    if (types_.empty()) {
      for (std::uint32_t i = 0; i < ops().size(); ++i)
        types_.push_back(type_index_.try_emplace(type_name(i), type_index_.size()).first->second);
    }
    return types_[op];
  }

  const trace::Trace& trace_;
  const analyzer::Analysis& analysis_;
  OpGrouping grouping_;
  analyzer::KernelNames kernels_;
  analyzer::KeyGroups keys_;
  std::vector<Group> groups_;
  std::vector<DurationNs> device_time_;
  std::vector<std::uint64_t> types_;
  std::unordered_map<std::string, std::uint64_t> type_index_;
};

std::vector<ComputePeak> peaks_of(const DeviceLimits& limits) {
  std::vector<ComputePeak> peaks;
  auto add = [&](const char* label, double flops) {
    if (flops > 0) peaks.push_back({label, flops});
  };
  if (limits.model) {
    add("FP8 on tensor cores", limits.model->fp8_flops);
    add(limits.model->bf16 ? "FP16, BF16 on tensor cores" : "FP16 on tensor cores",
        limits.model->half_flops);
    add("TF32 on tensor cores", limits.model->tf32_flops);
  }
  add("FP32 on general cores", limits.fp32_flops);
  return peaks;
}

/// The roof for a group: the peak of its own unit if that is known, else the highest peak that its
/// inputs could reach.
double roof_of(const Group& group, const DeviceLimits& limits) {
  if (group.on_tensor) {
    double peak = limits.peak_flops(MathUnit::kTensor, group.precision);
    return peak > 0 ? peak : limits.easy_tensor_flops;
  }
  return limits.fp32_flops;
}

RooflinePoint point_of(const Group& group, const trace::Trace& trace,
                       const analyzer::Analysis& analysis, const DeviceLimits& limits,
                       DurationNs all) {
  RooflinePoint point;
  double seconds = group.known_time.seconds();
  point.name = group.name;
  point.color = role_of(trace, analysis.attribution, group.op);
  point.intensity = static_cast<double>(group.flops) / static_cast<double>(group.bytes);
  point.rate = static_cast<double>(group.flops) / seconds;
  point.byte_rate = static_cast<double>(group.bytes) / seconds;
  point.time = group.time;
  point.share = ratio(group.time, all);
  point.count = group.count;
  point.longest = Target::of(analyzer::EventRef::of(group.op));
  double compute = roof_of(group, limits);
  double memory = limits.memory_bytes_per_second * point.intensity;
  if (compute > 0 && memory > 0) {
    point.memory_bound = memory < compute;
    point.attained = point.rate / std::min(memory, compute);
  }
  return point;
}

LinkedTable table_of(const std::vector<Group>& groups, const std::vector<RooflinePoint>& points,
                     const std::vector<std::size_t>& point_of_group, DurationNs all) {
  LinkedTable out;
  out.table.id = "roofline";
  out.table.title = "Achieved and possible rates";
  out.table.columns = {{"name", "Name", ColumnKind::kText},
                       {"time_ns", "Time", ColumnKind::kDuration},
                       {"share", "Share", ColumnKind::kPercent},
                       {"intensity", "FLOP / byte", ColumnKind::kNumber},
                       {"flop_per_s", "Achieved FLOP/s", ColumnKind::kFlopRate},
                       {"bytes_per_s", "Achieved B/s", ColumnKind::kByteRate},
                       {"bound", "Roof", ColumnKind::kText},
                       {"attained", "Of the roof", ColumnKind::kPercent}};
  out.docs = {"Op, type of op or kernel",
              "Device time over the steady steps",
              "Share of all kernel time",
              "Operations per byte of memory moved",
              "Operations per second, if recorded",
              "Bytes per second, if recorded",
              "The limit at this intensity: memory or arithmetic",
              "Achieved rate over the roof at this intensity"};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    const RooflinePoint* point =
        point_of_group[g] < points.size() ? &points[point_of_group[g]] : nullptr;
    bool roof = point && point->attained > 0;
    out.table.rows.push_back(
        {group.name, group.time.ns, ratio(group.time, all), point ? Cell(point->intensity) : Cell(),
         point ? Cell(point->rate) : Cell(), point ? Cell(point->byte_rate) : Cell(),
         roof ? Cell(std::string(point->memory_bound ? "memory" : "arithmetic")) : Cell(),
         roof ? Cell(point->attained) : Cell()});
    out.links.push_back(Target::of(analyzer::EventRef::of(group.op)));
  }
  out.bar_column = out.column("share");
  out.sort_column = out.column("time_ns");
  return out;
}

void describe(Roofline& out, const trace::Trace& trace, trace::DeviceId busiest) {
  const trace::Device& device = trace.devices[busiest.value];
  out.device = fmt::format("device {}{}{}", device.ordinal, device.name.empty() ? "" : " · ",
                           display_text(device.name, 60));
  if (out.points.empty()) {
    out.missing =
        "The recording has no byte and operation counts of kernels, so their rates cannot be "
        "compared with the device's peaks.\n\nNsight Systems and PyTorch's profiler do not record "
        "them. A program can describe its ops (bytes and flops of headway.device_op, "
        "docs/reference/nvtx-conventions.md), as headway-train does.";
    return;
  }
  out.text = fmt::format(
      "Bytes and operations are known for {} of the kernel time; the rest is not shown.",
      format_percent(out.known));
  if (out.peaks.empty() || out.bandwidth <= 0)
    out.text +=
        fmt::format(" The {} of {} {} unknown, so there is no roof to compare with.",
                    out.peaks.empty() && out.bandwidth <= 0
                        ? "peak rates"
                        : (out.peaks.empty() ? "peak rate of arithmetic" : "memory bandwidth"),
                    out.device, out.peaks.empty() && out.bandwidth <= 0 ? "are" : "is");
  else
    out.text += fmt::format(" Roofs are dense peaks of {}: memory {}.", out.device,
                            si(out.bandwidth, "B/s"));
}

}  // namespace

Roofline make_roofline(const trace::Trace& trace, const analyzer::Analysis& analysis,
                       OpGrouping grouping) {
  Roofline out;
  Gatherer gatherer(trace, analysis, grouping);
  visit_ops(trace, analysis, Scope::kSteady, [&](trace::DeviceOpId op) { gatherer.add(op); });
  std::vector<Group> groups = gatherer.finish();
  if (groups.empty()) {
    out.missing =
        "No kernels were recorded, so there is nothing to compare with the device's peaks.";
    return out;
  }
  std::uint16_t architecture = 0;
  for (const analyzer::KernelWork& work : analysis.work)
    if (work.device == gatherer.busiest()) architecture = work.architecture;
  DeviceLimits limits = analyzer::limits_of(trace.devices[gatherer.busiest().value], architecture);
  out.peaks = peaks_of(limits);
  out.bandwidth = limits.memory_bytes_per_second;
  DurationNs all;
  DurationNs known;
  for (const Group& group : groups) {
    all += group.time;
    known += group.known_time;
  }
  out.known = ratio(known, all);
  std::vector<std::size_t> point_of_group;
  for (const Group& group : groups) {
    bool drawn = group.known_time.ns > 0;
    point_of_group.push_back(drawn ? out.points.size() : SIZE_MAX);
    if (drawn) out.points.push_back(point_of(group, trace, analysis, limits, all));
  }
  describe(out, trace, gatherer.busiest());
  out.table = table_of(groups, out.points, point_of_group, all);
  out.table.table.note =
      fmt::format("Shares are of the total kernel time of {}.", format_duration(all));
  return out;
}

double LogAxis::position(double value) const {
  return (std::log10(std::max(value, 1e-300)) - low) / (high - low);
}

LogAxis LogAxis::over(double least, double largest) {
  LogAxis axis{std::floor(std::log10(std::max(least, 1e-300))),
               std::ceil(std::log10(std::max(largest, 1e-300)))};
  if (axis.high - axis.low < 1) axis.high = axis.low + 1;
  return axis;
}

}  // namespace headway::gui
