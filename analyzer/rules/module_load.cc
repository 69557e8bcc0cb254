// SPDX-License-Identifier: MIT
// module-load: device code is loaded or compiled inside measured steps.
//
// Symptom: single launches that take milliseconds, in steps after the warm-up.
// Mechanism: CUDA loads a kernel's code on its first launch (lazy loading), and frameworks compile code for
//   each new shape; the launch, and the device behind it, wait.
// Formula: recoverable = idle device time of steady steps inside loading: intervals that the profiler calls
//   module loading, calls that load or compile (cuModuleLoad…, cuLibraryLoad…, nvrtc…, hipModuleLoad…),
//   ranges of a just-in-time compiler.
// Falsified by: loading in the first steps only (they are dropped), or under a full queue.
// Known false positives: a recording so short that its steady steps are still warm-up.
// Source: lazy loading in the CUDA programming guide; recompilation in the compilers' own guides.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/rules/idle_overlap.h"
#include "analyzer/rules/registry.h"
#include "analyzer/rules/support.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

bool loads_code(std::string_view call) {
  static constexpr std::array<std::string_view, 7> kPrefixes = {
      "cuModuleLoad", "cuLibraryLoad", "cuLinkComplete", "cudaLibraryLoad",
      "nvrtcCompile", "hipModuleLoad", "hiprtcCompile"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return call.starts_with(prefix); });
}

bool compiles(std::string_view range) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "entire_frame_compile", "backend_compile", "compile_fx", "async_compile",
      "CachingAutotuner",     "triton.compile",  "XlaCompile", "LocalExecutable::Compile"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return range.find(name) != std::string_view::npos;
  });
}

/// Judges each distinct name once.
template <class Judge>
std::vector<bool> judge_names(const trace::Trace& trace, Judge judge) {
  std::vector<bool> judged(trace.strings.size());
  for (std::uint32_t i = 0; i < judged.size(); ++i)
    judged[i] = judge(trace.strings[trace::StringId{i}]);
  return judged;
}

struct Loading {
  std::vector<Interval> intervals;
  std::vector<EventRef> events;  ///< beside `intervals`; none for overheads
};

Loading find_loading(const trace::Trace& trace) {
  Loading loading;
  auto add = [&](Interval interval, EventRef event) {
    loading.intervals.push_back(interval);
    loading.events.push_back(event);
  };
  for (const trace::Overhead& overhead : trace.overheads) {
    if (overhead.kind == trace::Overhead::Kind::kModuleLoad) add(overhead.interval, {});
  }
  std::vector<bool> loads = judge_names(trace, loads_code);
  for (std::uint32_t i = 0; i < trace.calls.size(); ++i) {
    if (loads[trace.calls.name[i].value])
      add(trace.calls.interval(trace::CallId{i}), EventRef::of(trace::CallId{i}));
  }
  std::vector<bool> compile = judge_names(trace, compiles);
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    trace::RangeId range{i};
    if (compile[trace.ranges.name[i].value] && !trace.ranges.is(range, trace::Ranges::kMark))
      add(trace.ranges.interval(range), EventRef::of(range));
  }
  return loading;
}

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
             ? std::string("device code is loaded")
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
    return fine(rule, fmt::format("Loading or compiling device code keeps the device waiting {}.",
                                  of_step(context, idle.per_step, idle.step)));
  }
  Finding finding = found(rule, idle.per_step, context);
  finding.claim = fmt::format(
      "Device code is loaded or compiled in {} places of the measured steps; the device waits {}.",
      idle.pieces.size(), of_step(context, idle.per_step, idle.step));
  finding.confidence = 0.9;
  finding.evidence = evidence(context, idle, loading);
  finding.advice = {
      {"headway-train", "Run some steps before those that count.", "CUDA_MODULE_LOADING=EAGER", ""},
      {"PyTorch",
       "Load all code at the start, run every shape once before measuring, and keep the number of "
       "shapes small so that nothing is compiled again.",
       "CUDA_MODULE_LOADING=EAGER, torch.compile(…, dynamic=True), TORCH_LOGS=recompiles", ""},
      {"TensorFlow/JAX", "Compile ahead and cache what was compiled; pad to a few shapes.",
       "jax.jit(f).lower(…).compile(), jax_compilation_cache_dir", ""}};
  return finding;
}

}  // namespace

extern const Rule kModuleLoad = {
    "module-load", "Code loaded inside steps",
    "Idle device time while device code is loaded or compiled, over 5 % of the step.", check};

}  // namespace headway::analyzer
