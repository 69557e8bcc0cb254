// SPDX-License-Identifier: MIT
#include "analyzer/check/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/rules/registry.h"
#include "analyzer/stats/tables.h"
#include "common/statistics.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

struct Group {
  TimeGroup group;
  const char* id;
  const char* doc;
};
constexpr Group kGroups[] = {{TimeGroup::kCompute, "compute", "Kernels and memory sets"},
                             {TimeGroup::kCommunication, "communication", "Exposed communication"},
                             {TimeGroup::kCopy, "copy", "Exposed copies"},
                             {TimeGroup::kInput, "input", "Waiting for input"},
                             {TimeGroup::kHost, "host", "Waiting for the host"}};

void add_steps(const Analysis& analysis, std::vector<Metric>& out) {
  std::vector<double> durations = analysis.steps.steady_durations_ns();
  auto percentile_ms = [&](double p) -> std::optional<double> {
    if (durations.empty()) return std::nullopt;
    return percentile_sorted(durations, p) * 1e-6;
  };
  out.push_back({"step_ms.p50", "ms",
                 "Median steady step on the training thread, from start to start.",
                 percentile_ms(0.5)});
  out.push_back({"step_ms.p90", "ms", "90th percentile of the steady steps.", percentile_ms(0.9)});
  out.push_back({"step_ms.max", "ms", "Longest steady step.", percentile_ms(1)});
  bool known = !analysis.steps.all.empty() && analysis.median_step.ns > 0;
  out.push_back(
      {"step_cost_ms", "ms",
       "Wall time of the judged interval divided by its steps, including slow steps and time "
       "between steps; on the slowest device.",
       known ? std::optional(analysis.step_cost.per_step().milliseconds()) : std::nullopt});
  out.push_back({"typical_step_ms", "ms",
                 "Median steady step of the slowest device; blind to rare slow steps.",
                 known ? std::optional(analysis.step_cost.typical.milliseconds()) : std::nullopt});
  out.push_back({"samples_per_s", "1/s",
                 "Samples per second over all ranks, from the step cost; needs a known batch size.",
                 analysis.samples_per_s()});
  out.push_back({"device_step_ms.p50", "ms", "Median steady step on the slowest device.",
                 known ? std::optional(analysis.median_step.milliseconds()) : std::nullopt});
}

const DevicePartition* slowest(const Analysis& analysis) {
  const DevicePartition* worst = nullptr;
  for (const DevicePartition& partition : analysis.partitions) {
    if (partition.steady_steps == 0) continue;
    if (!worst || partition.per_steady_step.total() > worst->per_steady_step.total())
      worst = &partition;
  }
  return worst;
}

void add_classes(const Analysis& analysis, std::vector<Metric>& out) {
  const DevicePartition* worst = slowest(analysis);
  auto add = [&](std::string_view prefix, std::string_view id, std::string_view doc,
                 DurationNs time) {
    std::optional<double> share;
    std::optional<double> ms;
    if (worst) share = 100 * ratio(time, worst->per_steady_step.total());
    if (worst) ms = time.milliseconds();
    out.push_back({fmt::format("{}_pct.{}", prefix, id), "%",
                   fmt::format("{} Share of the step.", doc), share});
    out.push_back(
        {fmt::format("{}_ms.{}", prefix, id), "ms", fmt::format("{} Per step.", doc), ms});
  };
  for (const Group& group : kGroups) {
    add("group", group.id, fmt::format("{}.", group.doc),
        worst ? worst->per_steady_step.of_group(group.group) : DurationNs{});
  }
  for (const TimeClassInfo& c : time_classes())
    add("class", c.id, c.doc, worst ? worst->per_steady_step[c.time_class] : DurationNs{});
  std::optional<double> exposed;
  if (worst)
    exposed = 100 * ratio(worst->per_steady_step.of_group(TimeGroup::kCommunication),
                          worst->per_steady_step.total());
  out.push_back({"comm_exposed_pct", "%",
                 "Exposed communication, share of the step; same as group_pct.communication.",
                 exposed});
}

void add_device_view(const Analysis& analysis, std::vector<Metric>& out) {
  struct Part {
    const char* id;
    const char* doc;
    bool worst_is_largest;
    DurationNs DeviceView::*part;
    DurationNs DeviceView::*whole;
  };
  static constexpr Part kParts[] = {
      {"compute_pct", "Compute, share of the device's span; minimum over devices.", false,
       &DeviceView::compute, &DeviceView::span},
      {"exposed_comm_pct", "Exposed communication, share of the span.", true,
       &DeviceView::exposed_comm, &DeviceView::span},
      {"exposed_copy_pct", "Exposed copies, share of the span.", true, &DeviceView::exposed_copy,
       &DeviceView::span},
      {"idle_pct", "Idle time, share of the span.", true, &DeviceView::idle, &DeviceView::span},
      {"overlap_pct", "Overlapped communication, share of the communication; minimum over devices.",
       false, &DeviceView::overlap, &DeviceView::comm}};
  for (const Part& part : kParts) {
    std::optional<double> value;
    for (const DeviceView& view : analysis.device_views) {
      if ((view.*part.whole).ns <= 0) continue;
      double share = 100 * ratio(view.*part.part, view.*part.whole);
      if (!value || (part.worst_is_largest ? share > *value : share < *value)) value = share;
    }
    out.push_back({fmt::format("device_view.{}", part.id), "%", part.doc, value});
  }
}

std::optional<double> kernels_per_step(const trace::Trace& trace, const Analysis& analysis) {
  std::optional<double> most;
  for (const DevicePartition& partition : analysis.partitions) {
    double kernels = 0;
    std::int64_t steps =
        for_each_selected_op(trace, analysis, partition, {}, [&](trace::DeviceOpId op) {
          trace::DeviceOpKind kind = trace.device_ops.kind[op.value];
          kernels +=
              kind == trace::DeviceOpKind::kKernel || kind == trace::DeviceOpKind::kCommunication;
        });
    if (steps) most = std::max(most.value_or(0), kernels / static_cast<double>(steps));
  }
  return most;
}

void add_findings(const Analysis& analysis, std::vector<Metric>& out) {
  for (const Rule* rule : all_rules()) {
    Metric metric{fmt::format("finding.{}", rule->id), "%",
                  fmt::format("Recoverable share of the step; 0 when fine. {}", rule->fires_on),
                  std::nullopt};
    for (const Finding& finding : analysis.findings) {
      if (finding.rule == rule->id && finding.status != Status::kCannotTell)
        metric.value = 100 * finding.share_of_step;
    }
    out.push_back(std::move(metric));
  }
}

constexpr std::array<NamedMetric, 5> kNamed = {{
    {"op", "ms", "ms", "Device time of the op per steady step."},
    {"op", "pct", "%", "The same as a share of the step."},
    {"op", "kernels", "count", "Kernels and copies of the op per steady step."},
    {"kernel", "ms", "ms", "Device time of the kernel per steady step."},
    {"kernel", "count", "count", "Launches of the kernel per steady step."},
}};

struct NamedSum {
  double ns = 0;
  double count = 0;
  bool found = false;
};

/// Ops whose name fits, summed over phases.
NamedSum sum_of_ops(const std::string& glob, const trace::Trace& trace, const Analysis& analysis,
                    std::vector<std::string>& names) {
  NamedSum sum;
  for (const auto& row : op_table(trace, analysis).rows) {
    names.push_back(std::get<std::string>(row[0]));
    if (!glob_match(glob, names.back())) continue;
    sum.found = true;
    sum.ns += static_cast<double>(std::get<std::int64_t>(row[3]));
    sum.count += std::get<double>(row[5]);
  }
  return sum;
}

NamedSum sum_of_kernels(const std::string& glob, const trace::Trace& trace,
                        const Analysis& analysis, std::vector<std::string>& names) {
  std::vector<std::uint8_t> fits(trace.strings.size() + 1);
  std::vector<std::uint8_t> seen(fits.size());
  for (std::uint32_t i = 0; i < trace.strings.size(); ++i)
    fits[i] = glob_match(glob, trace.strings[{i}]);
  NamedSum sum;
  std::int64_t steps = 0;
  for (const DevicePartition& partition : analysis.partitions) {
    steps += for_each_selected_op(trace, analysis, partition, {}, [&](trace::DeviceOpId op) {
      std::size_t name =
          std::min<std::size_t>(trace.device_ops.name[op.value].value, fits.size() - 1);
      seen[name] = 1;
      if (!fits[name]) return;
      sum.found = true;
      sum.ns += static_cast<double>(trace.device_ops.interval(op).length().ns);
      sum.count += 1;
    });
  }
  for (std::uint32_t i = 0; i < trace.strings.size(); ++i) {
    if (seen[i]) names.emplace_back(trace.strings[{i}]);
  }
  sum.ns /= static_cast<double>(std::max<std::int64_t>(1, steps));
  sum.count /= static_cast<double>(std::max<std::int64_t>(1, steps));
  return sum;
}

}  // namespace

std::vector<Metric> metrics(const trace::Trace& trace, const Analysis& analysis) {
  std::vector<Metric> out;
  add_steps(analysis, out);
  add_classes(analysis, out);
  add_device_view(analysis, out);
  out.push_back({"kernel_count", "count", "Kernels per steady step, communication included.",
                 kernels_per_step(trace, analysis)});
  add_findings(analysis, out);
  double losses = 0;
  for (const trace::LossCount& loss : trace.losses)
    losses += loss.severity == "loss" ? static_cast<double>(loss.count) : 0;
  out.push_back({"trace.losses", "count", "Lost records.", losses});
  out.push_back(
      {"trace.steps", "count", "Steady steps.", static_cast<double>(analysis.steps.steady.size())});
  return out;
}

std::span<const NamedMetric> named_metrics() {
  return kNamed;
}

std::optional<NamedMetricKey> named_metric_key(std::string_view key) {
  for (const NamedMetric& metric : kNamed) {
    std::size_t frame = metric.kind.size() + metric.field.size() + 2;
    if (key.size() > frame && key.starts_with(metric.kind) && key[metric.kind.size()] == '.' &&
        key.ends_with(metric.field) && key[key.size() - metric.field.size() - 1] == '.')
      return NamedMetricKey{&metric,
                            std::string(key.substr(metric.kind.size() + 1, key.size() - frame))};
  }
  return std::nullopt;
}

std::optional<double> named_value(const NamedMetricKey& key, const trace::Trace& trace,
                                  const Analysis& analysis, std::string& problem) {
  std::vector<std::string> names;
  NamedSum sum = key.metric->kind == "op" ? sum_of_ops(key.name, trace, analysis, names)
                                          : sum_of_kernels(key.name, trace, analysis, names);
  if (!sum.found) {
    std::vector<std::string> near = closest(key.name, names);
    problem = fmt::format("the steady steps contain no {} '{}'{}", key.metric->kind, key.name,
                          near.empty() ? "" : fmt::format("; near: {}", fmt::join(near, ", ")));
    return std::nullopt;
  }
  if (key.metric->unit == "ms") return sum.ns * 1e-6;
  if (key.metric->unit == "count") return sum.count;
  const DevicePartition* worst = slowest(analysis);
  return worst ? 100 * sum.ns / static_cast<double>(worst->per_steady_step.total().ns) : 0;
}

}  // namespace headway::analyzer
