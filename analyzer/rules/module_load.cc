// SPDX-License-Identifier: MIT
// module-load: device code is loaded or compiled inside measured steps.
//
// Symptom: single launches take milliseconds in steps after the warm-up.
// Mechanism: CUDA loads a kernel's code at its first launch (lazy loading), and frameworks compile
//   code for each new shape. The launch and the device wait.
// Formula: recoverable = idle device time of steady steps inside loading: module loading reported
//   by the profiler, calls that load or compile (cuModuleLoad…, cuLibraryLoad…, nvrtc…,
//   hipModuleLoad…), ranges of a just-in-time compiler.
// Falsified by: loading only in the first steps (dropped), or under a full queue.
// Known false positives: recordings too short to leave the warm-up.
// Source: lazy loading in the CUDA programming guide; recompilation in the compilers' own guides.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/evidence/idle_overlap.h"
#include "analyzer/evidence/loading.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

std::vector<Evidence> evidence(const RuleContext& context, const IdleOverlap& idle,
                               const Loading& loading) {
  std::vector<Evidence> list;
  for (std::size_t p = 0; p < std::min<std::size_t>(idle.pieces.size(), 12); ++p) {
    EventRef event;
    for (std::size_t i = 0; i < loading.intervals.size() && event.kind == EventRef::Kind::kNone;
         ++i) {
      if (!intersect(loading.intervals[i], idle.pieces[p]).empty()) event = loading.events[i];
    }
    list.push_back(
        {idle.pieces[p], event,
         event.kind == EventRef::Kind::kNone
             ? std::string("loading device code")
             : fmt::format("'{}' loads or compiles device code", name_of(context.trace, event))});
  }
  return list;
}

Finding check(const Rule& rule, const RuleContext& context) {
  Loading loading = find_loading(context.trace);
  IdleOverlap idle = idle_during(context, loading.intervals);
  if (!idle.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (context.trace.calls.size() == 0 && loading.intervals.empty())
    return cannot_tell(rule, "The trace has no API calls; record with CUDA calls enabled.");
  if (idle.share() < kFindingShare) {
    return fine(rule, fmt::format("Idle during loading or compiling of device code: {}.",
                                  of_step(context, idle.per_step, idle.step)));
  }
  Finding finding = found(rule, idle.per_step, context);
  finding.claim = fmt::format(
      "Device code is loaded or compiled {} times in the measured steps; the device waits {}.",
      idle.pieces.size(), of_step(context, idle.per_step, idle.step));
  finding.confidence = 0.9;
  finding.evidence = evidence(context, idle, loading);
  finding.advice = {
      {"headway-train", "Run warm-up steps before the measured ones.", "CUDA_MODULE_LOADING=EAGER",
       ""},
      {"PyTorch",
       "Load all code at startup, run every shape once before measuring, and keep the number of "
       "shapes small to avoid recompilation.",
       "CUDA_MODULE_LOADING=EAGER, torch.compile(…, dynamic=True), TORCH_LOGS=recompiles", ""},
      {"TensorFlow/JAX", "Compile ahead of time, cache compiled code, and pad to a few shapes.",
       "jax.jit(f).lower(…).compile(), jax_compilation_cache_dir", ""}};
  return finding;
}

}  // namespace

extern const Rule kModuleLoad = {
    "module-load", "Device code loaded in steps",
    "Loading or compiling device code keeps the device idle for over 5 % of the step.", check};

}  // namespace headway::analyzer
