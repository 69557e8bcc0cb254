// SPDX-License-Identifier: MIT
#include "analyzer/replay/recording_cost.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

/// Share of the host's time. PyTorch's profiler, the costliest recorder, took 40 % of the step of a program that launches all
/// the time; our hook and CUPTI took 29 % (docs/design/0083).
constexpr double kMostOfHost = 0.6;
constexpr int kHalvings = 12;
/// Share of the step within which the wanted step counts as reached.
constexpr double kNothing = 0.001;

/// True for the work of threads that issue device work. Making batches is not part of it.
bool is_issuing(const Part& part) {
  if (part.kind == Part::Kind::kCall) return true;
  return part.kind == Part::Kind::kHost && part.stage == TimeClass::kUnknown &&
         (part.time_class == TimeClass::kLaunchGap || part.time_class == TimeClass::kHostOther);
}

}  // namespace

std::vector<double> faster_host(std::span<const Part> parts, double share) {
  std::vector<double> factor(parts.size(), 1.0);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (is_issuing(parts[i])) factor[i] = 1 - share;
  return factor;
}

double likely_most_of_host(const trace::Trace& trace) {
  constexpr double kMeasured = 0.5;
  const std::string_view producer = trace.meta_value(trace::meta::kProducer);
  const bool by_cupti = trace.meta_value(trace::meta::kCuda).starts_with("on:") ||
                        producer.starts_with("Nsight Systems") ||
                        producer.starts_with("PyTorch profiler");
  return by_cupti ? kMeasured : 0;
}

RecordingCost find_recording_cost(
    std::span<const Part> parts, double wanted,
    const std::function<double(const std::vector<double>&)>& mean_step) {
  const auto factors = [&](double of_host) { return faster_host(parts, of_host); };
  RecordingCost cost;
  const double recorded = mean_step({});
  // Where the device or the input decides the step from some share on, a larger one changes nothing.
  wanted = std::max(wanted, mean_step(factors(kMostOfHost)) + kNothing * recorded);
  if (recorded <= wanted) return cost;
  double low = 0;
  double high = kMostOfHost;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (mean_step(factors(middle)) > wanted ? low : high) = middle;
  }
  cost.of_host = high;
  cost.factor = factors(high);
  cost.of_step = DurationNs{std::llround(recorded - mean_step(cost.factor))};
  return cost;
}

}  // namespace headway::analyzer
