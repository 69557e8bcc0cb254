// SPDX-License-Identifier: MIT
#include "analyzer/evidence/loading.h"

#include <algorithm>
#include <array>
#include <string_view>

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
  static constexpr std::array<std::string_view, 9> kNames = {
      "load device code", "entire_frame_compile", "backend_compile",
      "compile_fx",       "async_compile",        "CachingAutotuner",
      "triton.compile",   "XlaCompile",           "LocalExecutable::Compile"};
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

}  // namespace

Loading find_loading(const trace::Trace& trace) {
  Loading loading;
  auto add = [&](Interval interval, EventRef event, trace::ThreadId thread) {
    loading.intervals.push_back(interval);
    loading.events.push_back(event);
    loading.threads.push_back(thread);
  };
  for (const trace::Overhead& overhead : trace.overheads) {
    if (overhead.kind == trace::Overhead::Kind::kModuleLoad)
      add(overhead.interval, {}, overhead.thread);
  }
  std::vector<bool> loads = judge_names(trace, loads_code);
  for (std::uint32_t i = 0; i < trace.calls.size(); ++i) {
    if (loads[trace.calls.name[i].value])
      add(trace.calls.interval(trace::CallId{i}), EventRef::of(trace::CallId{i}),
          trace.calls.thread[i]);
  }
  std::vector<bool> compile = judge_names(trace, compiles);
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    trace::RangeId range{i};
    if (compile[trace.ranges.name[i].value] && !trace.ranges.is(range, trace::Ranges::kMark))
      add(trace.ranges.interval(range), EventRef::of(range), trace.ranges.thread[i]);
  }
  return loading;
}

}  // namespace headway::analyzer
