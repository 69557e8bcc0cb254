// SPDX-License-Identifier: MIT
// allocator: the step allocates or frees memory through the driver.
//
// Symptom: cudaMalloc, cudaFree, cudaHostAlloc and similar calls in steady steps, with the device
//   idle meanwhile.
// Mechanism: these calls take the driver's lock for tens of microseconds to milliseconds. cudaFree
//   and cudaHostAlloc also wait for the device, so the queue runs dry.
// Formula: recoverable = allocator: idle device time before an op whose launching thread was in
//   such a call, plus the refill until the next launch if the device ran dry during a free.
// Falsified by: calls under a full queue (they cost nothing); calls in the first steps only
//   (dropped as warm-up).
// Known false positives: steps with varying sizes by design, which defeat a cache.
// Source: caching and stream-ordered allocators exist for this reason.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

bool allocates(trace::DeviceCallKind kind) {
  return kind == trace::DeviceCallKind::kAllocate || kind == trace::DeviceCallKind::kFree;
}

std::string note(const RuleContext& context, const Segment& segment) {
  if (segment.cause.kind != EventRef::Kind::kCall) return "memory allocation or free";
  std::int64_t bytes = context.trace.calls.bytes[segment.cause.index];
  std::string_view name = name_of(context.trace, segment.cause);
  if (!allocates(context.trace.calls.kind[segment.cause.index]))
    return fmt::format("{} refills the queue after a free", name);
  return bytes > 0 ? fmt::format("{} of {}", name, format_bytes(bytes)) : std::string(name);
}

/// Calls per steady step; over the whole trace without steps.
double calls_per_step(const RuleContext& context) {
  const trace::Calls& calls = context.trace.calls;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!allocates(calls.kind[i])) continue;
    bool inside = context.steps.all.empty();
    auto after =
        std::upper_bound(context.steps.all.begin(), context.steps.all.end(), calls.start[i],
                         [](TimeNs t, const Step& step) { return t < step.host.begin; });
    if (after != context.steps.all.begin())
      inside = (after - 1)->steady && (after - 1)->host.contains(calls.start[i]);
    count += inside;
  }
  std::size_t steps = context.steps.steady.size();
  return static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(1, steps));
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare share = worst_share(context, {TimeClass::kAllocator});
  if (!share.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (context.trace.calls.size() == 0)
    return cannot_tell(rule, "The trace has no API calls; record with CUDA calls enabled.");
  double count = calls_per_step(context);
  if (share.share() < kFindingShare) {
    return fine(
        rule,
        fmt::format("Idle during allocations and frees: {2} ({0:.1f} allocations and frees {1}).",
                    count, per_step(context), of_step(context, share.time, share.step)));
  }
  Finding finding = found(rule, share.time, context);
  finding.claim =
      fmt::format("{:.1f} calls {} to the driver's allocator keep the device idle for {}.", count,
                  per_step(context), of_step(context, share.time, share.step));
  finding.confidence = 0.9;
  finding.evidence = longest_segments(context, *share.device, {TimeClass::kAllocator}, note);
  finding.advice = {
      {"headway-train", "Allocate memory once, not before each op.", "--allocator caching",
       settings(context.trace, {"allocator"})},
      {"PyTorch",
       "Use the caching allocator in steps: no empty_cache() in the loop, few distinct shapes, "
       "expandable segments against fragmentation.",
       "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (or backend:cudaMallocAsync)", ""},
      {"TensorFlow/JAX", "Allocate device memory at startup, or in stream order.",
       "XLA_PYTHON_CLIENT_PREALLOCATE=true, TF_GPU_ALLOCATOR=cuda_malloc_async", ""}};
  return finding;
}

}  // namespace

extern const Rule kAllocator = {
    "allocator", "Allocation inside steps",
    "Driver allocations and frees keep the device idle for over 5 % of the step.", check};

}  // namespace headway::analyzer
