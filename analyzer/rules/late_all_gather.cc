// SPDX-License-Identifier: MIT
// late-all-gather: compute waits for parameters that could have been gathered earlier.
//
// Symptom: ranks share the parameters (FSDP, ZeRO-3), and each layer's all-gather begins after the
//   previous layer's compute.
// Mechanism: parameters change only in the update, so a layer's all-gather is independent of the
//   previous layer's compute. Issued one layer ahead, it overlaps that compute. Issued at its
//   layer, it leaves compute and link idle in turn.
// Formula: recoverable = over late all-gathers, per step, the smaller of two times, minus the
//   link's other traffic: the exposed time from the end of the preceding compute to the end of the
//   all-gather (including reduce-scatters before it), and the kernel time since the previous
//   all-gather. An all-gather is late if it begins without overlapping compute and at least half
//   of it is exposed. analyzer/evidence/parameter_gathers.h identifies parameter all-gathers.
// Falsified by: all-gathers that begin during the previous layer's compute; the link is then the
//   limit (comm-exposed).
// Known false positives: memory without room for a second gathered layer; a gather delayed by the
//   host.
// Source: PyTorch FSDP's backward_prefetch and forward_prefetch; DeepSpeed's stage3_prefetch_bucket_size.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/parameter_gathers.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr std::size_t kShown = 12;

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare share = worst_share(context, {TimeClass::kCommTransfer});
  if (!share.device) return cannot_tell(rule, "No steady step has work on a device.");
  const ParameterGathers found_here = find_parameter_gathers(context, *share.device);
  if (found_here.gathers == 0)
    return fine(rule, "No all-gather of parameters: each rank has all of them.");
  const auto late = std::ranges::count_if(found_here.late, &LateGather::steady);
  const std::string checked =
      fmt::format("{} of {} parameter all-gathers begin only after the preceding compute",
                  format_count(late), format_count(found_here.gathers));
  if (ratio(found_here.hideable, context.step) < kFindingShare)
    return fine(rule, fmt::format("{}; {} of it could be hidden.", checked,
                                  of_step(context, found_here.hideable, share.step)));
  Finding finding = found(rule, found_here.hideable, context);
  const std::int64_t steps = std::max<std::int64_t>(1, found_here.steps);
  finding.claim = fmt::format(
      "{}{}; only communication runs for {}, and the preceding compute could hide {} of it.",
      checked,
      found_here.bytes > 0
          ? fmt::format(" ({} {})", format_bytes(found_here.bytes / steps), per_step(context))
          : std::string(),
      of_step(context, found_here.exposed, share.step), format_duration(found_here.hideable));
  finding.confidence = 0.85;
  std::vector<const LateGather*> longest;
  for (const LateGather& one : found_here.late)
    if (one.steady) longest.push_back(&one);
  std::ranges::stable_sort(
      longest, [](const LateGather* a, const LateGather* b) { return a->exposed > b->exposed; });
  for (std::size_t i = 0; i < std::min(kShown, longest.size()); ++i)
    finding.evidence.push_back(
        {context.trace.device_ops.interval(longest[i]->gather), EventRef::of(longest[i]->gather),
         fmt::format("exposed {}, after {} of compute", format_duration(longest[i]->exposed),
                     format_duration(longest[i]->compute))});
  finding.advice = {
      {"headway-train", "Prefetch each unit's parameters during the unit before it.",
       "--gather-prefetch on", settings(context.trace, {"gather_prefetch"})},
      {"PyTorch",
       "Prefetch the next unit's parameters before this unit computes. This needs memory for one "
       "more unit.",
       "FSDP(…, backward_prefetch=BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True, "
       "limit_all_gathers=True); FSDP2: set_modules_to_forward_prefetch(…), "
       "set_modules_to_backward_prefetch(…); DeepSpeed: overlap_comm, stage3_prefetch_bucket_size",
       ""},
      {"TensorFlow/JAX", "Let the scheduler start all-gathers earlier.",
       "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true "
       "--xla_gpu_enable_pipelined_all_gather=true",
       ""}};
  return finding;
}

}  // namespace

extern const Rule kLateAllGather = {"late-all-gather", "Late parameter all-gathers",
                                    "Parameter all-gathers start after the preceding compute, "
                                    "which could hide over 5 % of the step.",
                                    check};

}  // namespace headway::analyzer
