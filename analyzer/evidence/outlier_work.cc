// SPDX-License-Identifier: MIT
#include "analyzer/evidence/outlier_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/evidence/host_work.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/own_profiler.h"
#include "analyzer/evidence/support.h"
#include "analyzer/partition/sampled_work.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Least share of the grown class's time that a function must take to name the work.
constexpr double kNames = 0.5;
/// The profiler must run in this share of the outliers, and in less than the rest of the usual
/// steps.
constexpr double kMost = 2.0 / 3;

std::vector<Interval> intervals_of(const DevicePartition& partition,
                                   std::span<const DeviceStep* const> steps, TimeClass grown) {
  std::vector<Interval> list;
  for (const DeviceStep* step : steps)
    for (std::uint32_t i = 0; i < step->segment_count; ++i) {
      const Segment& segment = partition.segments[step->first_segment + i];
      if (segment.time_class == grown) list.push_back(segment.interval);
    }
  std::ranges::sort(list, {}, &Interval::begin);
  return list;
}

double profiled_share(const RuleContext& context, std::span<const DeviceStep* const> steps) {
  if (steps.empty()) return 0;
  const auto count = std::ranges::count_if(steps, [&](const DeviceStep* step) {
    return is_profiled(context.trace, context.steps.all[step->step].number);
  });
  return static_cast<double>(count) / static_cast<double>(steps.size());
}

void name_it(const RuleContext& context, const DevicePartition& partition,
             std::span<const DeviceStep* const> outliers, OutlierWork& work) {
  const std::vector<Interval> where = intervals_of(partition, outliers, work.grown);
  if (where.empty() || context.steps.all.empty()) return;
  const trace::ThreadId thread = context.steps.all[outliers.front()->step].thread;
  const HostWork range = dominant_work(context, thread, where);
  if (!range.name.empty()) {
    work.name = range.name;
    work.share = range.share;
    return;
  }
  DurationNs whole;
  for (const Interval& one : where) whole += one.length();
  const SampledWorks sampled = sampled_works(context.trace, context.steps, partition, where);
  if (sampled.works.empty()) return;
  const SampledWork& most = sampled.works.front();
  const double share =
      ratio(most.per_step * std::max<std::int64_t>(1, partition.steady_steps), whole);
  if (share < kNames) return;
  work.name = function_text(most);
  work.share = std::min(share, 1.0);
  work.from = most.from;
}

bool has_workers(const RuleContext& context) {
  return !loader_work(context).workers.empty();
}

std::vector<Advice> for_input(const RuleContext& context) {
  constexpr const char* kQueue = "More prefetched batches hide a slow file.";
  std::vector<Advice> list = {
      {"headway-train",
       "More prefetched batches hide a slow file. Persistent workers keep making batches across "
       "epochs.",
       "--worker-reuse on --prefetch N", ""}};
  if (has_workers(context))
    list.push_back({"PyTorch",
                    "More prefetched batches hide a slow file. Persistent workers keep making "
                    "batches across epochs.",
                    "DataLoader(prefetch_factor=8, persistent_workers=True)",
                    std::string(context.trace.setting("DataLoader"))});
  else
    list.push_back({"PyTorch", "Workers make batches ahead, which hides a slow one.",
                    "DataLoader(num_workers=2, persistent_workers=True)",
                    std::string(context.trace.setting("DataLoader"))});
  list.push_back({"TensorFlow/JAX", kQueue, "dataset.repeat().prefetch(8)", ""});
  return list;
}

std::vector<Advice> for_communication(const RuleContext& context) {
  constexpr const char* kText = "Check the network and the rank that arrives last in these steps.";
  // Without a device, gloo or MPI carries the messages, so NCCL's settings do not apply.
  if (context.trace.device_ops.size() == 0)
    return {{"PyTorch", kText,
             "torch.distributed.monitored_barrier() names the late rank; "
             "TORCH_DISTRIBUTED_DEBUG=DETAIL",
             ""}};
  return {{"PyTorch", kText, "TORCH_NCCL_TRACE_BUFFER_SIZE, NCCL_DEBUG=INFO", ""},
          {"TensorFlow/JAX", kText, "NCCL_DEBUG=INFO", ""}};
}

/// The same advice for each Python framework.
std::vector<Advice> for_all(std::string_view text, std::string knob) {
  std::vector<Advice> list;
  for (const char* framework : {"PyTorch", "TensorFlow/JAX"})
    list.push_back({framework, std::string(text), knob, ""});
  return list;
}

std::vector<Advice> for_between(BetweenCause cause) {
  switch (cause) {
    case BetweenCause::kCheckpoint:
      return {{"PyTorch", "Save in the background, or less often.",
               "torch.distributed.checkpoint.async_save(…)", ""},
              {"TensorFlow/JAX", "Save in the background, or less often.",
               "orbax AsyncCheckpointer", ""}};
    case BetweenCause::kGarbageCollection:
      return for_all("Collect at a time of your choice, and not what was set up before training.",
                     "gc.freeze() after setting up; gc.disable() with gc.collect() every n steps");
    case BetweenCause::kLoaderRestart:
      return {{"PyTorch", "Start workers once.", "DataLoader(persistent_workers=True)", ""},
              {"TensorFlow/JAX", "Make one iterator.", "dataset.repeat()", ""}};
    case BetweenCause::kEvaluation:
      return for_all("Evaluate less often, or on fewer batches.", "the program's own interval");
    case BetweenCause::kLogging:
      return for_all("Log less often, or on another thread.", "the program's own interval");
    case BetweenCause::kOther:
    case BetweenCause::kCount_:
      break;
  }
  return {};
}

std::vector<Advice> for_compute(const RuleContext& context) {
  if (context.trace.device_ops.size() == 0)
    return for_all(
        "Compare the batches of these steps with the others, and look for other programs on "
        "the same processors.",
        "batches of one shape; taskset for processors of its own");
  return for_all(
      "Compare the batches of these steps with the others: new shapes are compiled and tuned "
      "again.",
      "batches of one shape, padded or bucketed");
}

}  // namespace

OutlierWork outlier_work(const RuleContext& context, const DevicePartition& partition,
                         std::span<const DeviceStep* const> outliers,
                         std::span<const DeviceStep* const> usual, TimeClass grown) {
  OutlierWork work;
  work.grown = grown;
  if (outliers.empty()) return work;
  work.profiler =
      profiled_share(context, outliers) >= kMost && profiled_share(context, usual) < 1 - kMost;
  name_it(context, partition, outliers, work);
  return work;
}

std::string outlier_text(const OutlierWork& work) {
  std::string text;
  if (!work.name.empty())
    text = fmt::format(" {} of that time is in '{}'{}.", format_percent(work.share), work.name,
                       work.from.empty() ? "" : fmt::format(", called from '{}'", work.from));
  if (work.profiler) text += " The program's own torch.profiler runs in most of these steps.";
  return text;
}

std::vector<Advice> advice_for_outliers(const RuleContext& context, const OutlierWork& work) {
  if (work.profiler)
    return {{"PyTorch", "Profile few steps, and without stacks.",
             "torch.profiler.schedule(wait=…, warmup=1, active=3, repeat=1), with_stack=False",
             ""}};
  const TimeGroup group = info(work.grown).group;
  if (group == TimeGroup::kInput) return for_input(context);
  if (group == TimeGroup::kCommunication) return for_communication(context);
  if (work.between != BetweenCause::kOther) return for_between(work.between);
  if (group == TimeGroup::kCompute) return for_compute(context);
  if (!work.name.empty())
    return for_all("Do this less often, or on another thread or process.",
                   fmt::format("'{}': less often, or on another thread", work.name));
  constexpr const char* kText =
      "Nothing recorded names what these steps do more. Mark the parts of the loop with ranges.";
  return {{"PyTorch", kText, "torch.profiler.record_function(…); py-spy record -- python3 train.py",
           ""},
          {"TensorFlow/JAX", kText, "jax.profiler.TraceAnnotation, tf.profiler.experimental.Trace",
           ""}};
}

}  // namespace headway::analyzer
