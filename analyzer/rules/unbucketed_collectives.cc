// SPDX-License-Identifier: MIT
// unbucketed-collectives: gradients are exchanged tensor by tensor.
//
// Symptom: one all-reduce per parameter, dozens to hundreds a step, most of them small.
// Mechanism: each collective pays its launch, its start on every rank and the network latency,
//   whatever its size. A bucket pays them once for many tensors.
// Formula: fires with at least 32 all-reduces or reduce-scatters per step on a device, far smaller
//   than a bucket: by bytes, if 25 MB buckets would be an eighth as many; without bytes, if half
//   of them take a quarter of the mean or less (biases beside matrices). Recoverable = one latency
//   each (from the shortest twentieth) and the idle time between neighbours, minus those of the
//   buckets (8 if sizes are unknown).
// Falsified by: collectives whose time grows with size (bandwidth is then the limit:
//   comm-slow-link).
//   Activations of layers that ranks share (layer_exchanges.h) do not count.
// Known false positives: tensor-parallel inference has one per layer by design: only training is
//   judged.
// Source: PyTorch DDP and Horovod exchange buckets of 25 to 64 MB for this reason.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyzer/evidence/layer_exchanges.h"
#include "analyzer/evidence/support.h"
#include "analyzer/kernels/communication.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kMany = 32;
constexpr double kFewerBuckets = 8;
/// Most tensors are small if half of the collectives take at most this share of the mean.
constexpr double kSkewed = 0.25;
constexpr double kBucketBytes = 25e6;
constexpr double kBucketsOfUnknownSize = 8;
/// Largest number of ops between neighbouring collectives: a tensor is copied and scaled for its
/// exchange.
constexpr int kOthersBetween = 2;

struct Exchange {
  double per_step = 0;
  double mean_bytes = 0;  ///< 0 unknown
  double latency_ns = 0;  ///< of one
  double median_ns = 0;
  double mean_ns = 0;
  DurationNs latencies;  ///< per step
  DurationNs gaps;       ///< per step: idle device time between neighbours
  std::vector<Evidence> evidence;
};

/// True for sums of gradients, which DDP and FSDP exchange in the backward pass.
bool sums_gradients(const trace::Trace& trace, const trace::Collective* collective,
                    trace::DeviceOpId op) {
  if (collective) {
    std::string_view kind = trace.strings[collective->kind];
    return kind == "allreduce" || kind == "reducescatter";
  }
  std::string_view name = trace.strings[trace.device_ops.name[op.value]];
  return name.find("AllReduce") != std::string_view::npos ||
         name.find("ReduceScatter") != std::string_view::npos;
}

Exchange measure(const RuleContext& context, const DevicePartition& device) {
  const trace::Trace& trace = context.trace;
  const trace::DeviceOps& ops = trace.device_ops;
  CommunicationOps communication(trace, context.kernels);
  const std::set<trace::DeviceOpId> of_layers = find_layer_exchanges(context).ops(trace);
  std::map<trace::DeviceOpId, const trace::Collective*> known;
  for (const trace::Collective& one : trace.collectives) {
    if (one.op.valid()) known.emplace(one.op, &one);
  }
  Exchange result;
  std::vector<double> durations;
  double bytes = 0;
  std::size_t sized = 0;
  const DeviceStep* current = nullptr;
  TimeNs last_end = TimeNs::min();  // of the last collective and ops since then
  DurationNs gap;                   // idle since the last collective
  int others = 0;                   // ops since the last collective
  Interval burst;
  std::int64_t in_burst = 0;
  auto close = [&] {
    if (in_burst > 1)
      result.evidence.push_back({burst, {}, fmt::format("{} of them in a row", in_burst)});
    in_burst = 0;
  };
  const std::int64_t steps = for_each_steady_op(
      trace, context.steps, device, [&](const DeviceStep& step, trace::DeviceOpId op) {
        const Interval time = ops.interval(op);
        if (last_end != TimeNs::min() && time.begin > last_end) gap += time.begin - last_end;
        last_end = std::max(last_end, time.end);
        auto found = known.find(op);
        const trace::Collective* collective = found == known.end() ? nullptr : found->second;
        if (!communication[op] || of_layers.contains(op) ||
            !sums_gradients(trace, collective, op)) {
          ++others;
          return;
        }
        durations.push_back(static_cast<double>(time.length().ns));
        if (collective && collective->bytes > 0) {
          bytes += static_cast<double>(collective->bytes);
          ++sized;
        }
        const bool neighbours = current == &step && others <= kOthersBetween;
        if (neighbours)
          result.gaps += gap;
        else
          close();
        current = &step;
        gap = {};
        others = 0;
        if (in_burst++ == 0) burst = time;
        burst.end = std::max(burst.end, time.end);
      });
  close();
  if (steps == 0 || durations.empty()) return result;
  const double count = static_cast<double>(durations.size());
  std::sort(durations.begin(), durations.end());
  result.per_step = count / static_cast<double>(steps);
  result.latency_ns = durations[durations.size() / 20];
  result.median_ns = durations[durations.size() / 2];
  double latencies = 0;
  for (double one : durations) {
    latencies += std::min(one, result.latency_ns);
    result.mean_ns += one / count;
  }
  result.latencies = {static_cast<std::int64_t>(latencies / static_cast<double>(steps))};
  result.gaps = result.gaps / steps;
  result.mean_bytes = sized ? bytes / static_cast<double>(sized) : 0;
  std::stable_sort(
      result.evidence.begin(), result.evidence.end(),
      [](const Evidence& a, const Evidence& b) { return a.where.length() > b.where.length(); });
  constexpr std::size_t kShown = 5;
  if (result.evidence.size() > kShown) result.evidence.resize(kShown);
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare share = worst_share(context, {TimeClass::kCommTransfer, TimeClass::kStragglerWait});
  if (!share.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (context.program.is_inference())
    return fine(rule, "The program does inference: no gradient exchange.");
  // With all ranks, the link's latency and rate and the best buckets are known.
  if (context.job)
    return fine(rule, "See comm-too-small, which judges message sizes across the job.");
  const Exchange exchange = measure(context, *share.device);
  const std::string checked =
      fmt::format("{:.0f} gradient reductions {}", exchange.per_step, per_step(context));
  if (exchange.per_step < kMany) return fine(rule, checked + ".");
  const std::string small =
      fmt::format("{}, which take {} in the median and {} on average", checked,
                  format_duration({static_cast<std::int64_t>(exchange.median_ns)}),
                  format_duration({static_cast<std::int64_t>(exchange.mean_ns)}));
  const double buckets =
      exchange.mean_bytes > 0
          ? std::max(1.0, std::ceil(exchange.mean_bytes * exchange.per_step / kBucketBytes))
          : kBucketsOfUnknownSize;
  const bool tensor_by_tensor = exchange.mean_bytes > 0
                                    ? exchange.per_step >= kFewerBuckets * buckets
                                    : exchange.median_ns <= kSkewed * exchange.mean_ns;
  const DurationNs saved{
      static_cast<std::int64_t>(static_cast<double>((exchange.latencies + exchange.gaps).ns) *
                                std::max(0.0, 1 - buckets / exchange.per_step))};
  const DurationNs recoverable = std::min(saved, share.time + exchange.gaps);
  if (!tensor_by_tensor || ratio(recoverable, context.step) < kFindingShare)
    return fine(rule, small + ".");
  Finding finding = found(rule, recoverable, context);
  finding.claim =
      fmt::format("{}{}; {:.0f} buckets would save {} of latency and gaps.", small,
                  exchange.mean_bytes > 0
                      ? fmt::format(", with {} on average",
                                    format_bytes(static_cast<std::int64_t>(exchange.mean_bytes)))
                      : std::string(),
                  buckets, of_step(context, recoverable, context.step));
  finding.confidence = exchange.mean_bytes > 0 ? 0.8 : 0.7;
  finding.evidence = exchange.evidence;
  finding.advice = {
      {"headway-train", "Exchange gradients in buckets.", "--bucket-mb 25",
       settings(context.trace, {"bucket_mb"})},
      {"PyTorch", "Exchange buckets from hooks instead of one tensor at a time.",
       "torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=25)", ""},
      {"TensorFlow/JAX", "Let the compiler or Horovod combine collectives.",
       "XLA_FLAGS=--xla_gpu_all_reduce_combine_threshold_bytes=…, HOROVOD_FUSION_THRESHOLD", ""}};
  return finding;
}

}  // namespace

extern const Rule kUnbucketedCollectives = {
    "unbucketed-collectives", "Unbucketed gradient exchange",
    "At least 32 all-reduces or reduce-scatters per step are far below bucket size; buckets would "
    "save over 5 % of the step.",
    check, true};

}  // namespace headway::analyzer
