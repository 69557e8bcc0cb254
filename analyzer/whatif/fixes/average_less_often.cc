// SPDX-License-Identifier: MIT
// Ranks exchange nothing for several steps and then average their parameters (local SGD): a bound,
// because no recording shows how many steps alone the training bears. Parameters have as many
// values as gradients, so the average takes the time of one step's exchange, but it comes after
// the update, where no backward pass hides it. Ranks that are late are waited for only then.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/overlap_slowdown.h"
#include "analyzer/whatif/step_exchange.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// The exchange of one step of one rank.
struct StepExchange {
  std::vector<DeviceOpId> sums;  ///< by start
  std::vector<DeviceOpId> kernels;
  double ns = 0;    ///< of all, one after the other
  double wait = 0;  ///< of the last sum
  TimeNs last_start;
};

/// The exchanges of a device's steps that have one, by time, and the index of each step.
std::vector<std::pair<std::size_t, StepExchange>> exchanges_of(
    const Predictor& predictor, const DevicePartition& partition,
    const std::vector<std::vector<Transfer>>& all) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  std::vector<std::pair<std::size_t, StepExchange>> result;
  for_each_step_exchange(
      predictor, partition, all, [&](const StepStages& stages, Interval interval) {
        const auto step =
            std::ranges::find(partition.steps, interval.begin,
                              [](const DeviceStep& one) { return one.interval.begin; });
        const auto index = static_cast<std::size_t>(step - partition.steps.begin());
        if (result.empty() || result.back().first != index) result.push_back({index, {}});
        StepExchange& its = result.back().second;
        for (const std::vector<Transfer>& stage : stages)
          for (const Transfer& one : stage) {
            const TimeNs start = ops.start[one.op.value];
            if (its.sums.empty() || start > its.last_start) {
              its.last_start = start;
              its.wait = one.wait;
            }
            its.sums.push_back(one.op);
            its.ns += one.ns;
          }
        const StreamId stream = ops.stream[stages.front().front().op.value];
        for (const auto& named : companions(predictor, stream, interval, stages.front().size()))
          for (const DeviceOpId op : named) {
            its.kernels.push_back(op);
            its.ns += static_cast<double>(ops.interval(op).length().ns);
          }
        std::ranges::sort(its.sums, {}, [&](DeviceOpId op) { return ops.start[op.value]; });
      });
  return result;
}

/// By index of a device's step: whether a prediction is about it.
std::vector<bool> steady_steps(const Predictor& predictor, const DevicePartition& partition) {
  std::set<std::uint32_t> marked;
  for (const MarkedStep& step : predictor.steps().steps) marked.insert(step.step);
  std::vector<bool> steady;
  for (const DeviceStep& step : partition.steps) steady.push_back(marked.contains(step.step));
  return steady;
}

void drop(const Predictor& predictor, const StepExchange& exchange, std::size_t kept,
          Editor& editor) {
  for (std::size_t i = 0; i + kept < exchange.sums.size(); ++i) {
    for (CallId call : waits_before(predictor.trace(), exchange.sums[i])) editor.drop_call(call);
    editor.drop_collective(exchange.sums[i]);
  }
  for (DeviceOpId op : exchange.kernels) editor.drop_op(op);
}

template <int kSteps>
Proposal propose(const Predictor& predictor) {
  const std::vector<std::vector<Transfer>> all = stages_of_exchange(predictor);
  if (all.empty()) return not_here("no exchange of gradients of known size was recorded");
  const std::string_view kind = all.front().front().kind;
  const bool in_rounds = all.size() > 1 && all.back().front().kind == kind;
  if (in_rounds || (all.size() == 1 && kind == "allgather"))
    return not_here("gradients are compressed; the parameters would go in full");
  const std::vector<DevicePartition>& partitions = predictor.analysis().partitions;
  const DevicePartition& judged = partitions[predictor.steps().partition];
  const std::vector<bool> steady = steady_steps(predictor, judged);
  auto averages = [](std::size_t step) { return step % kSteps == kSteps - 1; };
  // The share of the steps that average is then exactly 1 / kSteps.
  double count = 0;
  double averaged = 0;
  for (std::size_t i = 0; i < steady.size(); ++i) {
    count += steady[i];
    averaged += steady[i] && averages(i);
  }
  if (averaged == 0) return not_here(fmt::format("there are fewer than {} steps", kSteps));
  const double share = count / (kSteps * averaged);
  Editor editor(predictor);
  double ns = 0;
  double exchanges = 0;
  for (const DevicePartition& partition : partitions) {
    for (const auto& [index, exchange] : exchanges_of(predictor, partition, all)) {
      const bool kept = averages(index);
      drop(predictor, exchange, kept ? 1 : 0, editor);
      if (kept)
        editor.set_transfer(exchange.sums.back(),
                            DurationNs{std::llround(exchange.wait + share * exchange.ns)});
      ns += exchange.ns;
      ++exchanges;
    }
    if (partition.device.valid()) slow_down_less(predictor, partition.device, 1, editor);
  }
  if (exchanges == 0) return not_here("no step has a whole exchange");
  return {true,
          fmt::format("{} steps exchange once, {} after the last update", kSteps,
                      format_duration(DurationNs{std::llround(ns / exchanges)})),
          editor.take()};
}

constexpr std::string_view kRules = "comm-exposed, comm-slow-link";
constexpr std::string_view kChange =
    "Collectives of gradients and the kernels that pack them are removed from all steps. One step "
    "in two, four or eight ends with the time of all of them, one after the other, once all ranks "
    "have come; the mean of the steps counts.";
constexpr std::string_view kUnknown = "how many steps alone the training bears";

}  // namespace

const Fix kAverageEvery2Steps{"average-every-2-steps",
                              "Average parameters every second step",
                              kRules,
                              FixKind::kCeiling,
                              0.1,
                              "--local-steps 2",
                              kChange,
                              kUnknown,
                              propose<2>,
                              true};
const Fix kAverageEvery4Steps{"average-every-4-steps",
                              "Average parameters every fourth step",
                              kRules,
                              FixKind::kCeiling,
                              0.1,
                              "--local-steps 4",
                              kChange,
                              kUnknown,
                              propose<4>,
                              true};
const Fix kAverageEvery8Steps{"average-every-8-steps",
                              "Average parameters every eighth step",
                              kRules,
                              FixKind::kCeiling,
                              0.1,
                              "--local-steps 8",
                              kChange,
                              kUnknown,
                              propose<8>,
                              true};

}  // namespace headway::analyzer
