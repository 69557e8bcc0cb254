// SPDX-License-Identifier: MIT
#include "analyzer/check/metrics.h"

#include <fmt/format.h>

#include "analyzer/rules/rule.h"
#include "common/statistics.h"

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
  out.push_back(
      {"step_ms.p50", "ms", "Median steady step on the training thread.", percentile_ms(0.5)});
  out.push_back({"step_ms.p90", "ms", "90th percentile of the steady steps.", percentile_ms(0.9)});
  out.push_back({"step_ms.max", "ms", "Longest steady step.", percentile_ms(1)});
}

void add_classes(const Analysis& analysis, std::vector<Metric>& out) {
  const DevicePartition* worst = nullptr;
  for (const DevicePartition& partition : analysis.partitions) {
    if (partition.steady_steps == 0) continue;
    if (!worst || partition.per_steady_step.total() > worst->per_steady_step.total())
      worst = &partition;
  }
  auto share = [&](DurationNs time) -> std::optional<double> {
    if (!worst) return std::nullopt;
    return 100 * ratio(time, worst->per_steady_step.total());
  };
  for (const Group& group : kGroups) {
    out.push_back({fmt::format("group_pct.{}", group.id), "%",
                   fmt::format("{}, share of the step.", group.doc),
                   share(worst ? worst->per_steady_step.of_group(group.group) : DurationNs{})});
  }
  for (const TimeClassInfo& c : time_classes()) {
    out.push_back({fmt::format("class_pct.{}", c.id), "%",
                   fmt::format("{} Share of the step.", c.doc),
                   share(worst ? worst->per_steady_step[c.time_class] : DurationNs{})});
  }
}

}  // namespace

std::vector<Metric> metrics(const trace::Trace& trace, const Analysis& analysis) {
  std::vector<Metric> out;
  add_steps(analysis, out);
  add_classes(analysis, out);
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
  double losses = 0;
  for (const trace::LossCount& loss : trace.losses)
    losses += loss.severity == "loss" ? static_cast<double>(loss.count) : 0;
  out.push_back({"trace.losses", "count", "Records that were lost.", losses});
  out.push_back(
      {"trace.steps", "count", "Steady steps.", static_cast<double>(analysis.steps.steady.size())});
  return out;
}

}  // namespace headway::analyzer
