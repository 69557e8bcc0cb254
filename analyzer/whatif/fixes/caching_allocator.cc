// SPDX-License-Identifier: MIT
// Memory comes from a pool: allocating and freeing cost a microsecond and wait for nothing.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr DurationNs kFromPool{1'000};

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  std::int64_t calls = 0;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    if (class_of_call(trace.calls.kind[c]) != TimeClass::kAllocator) continue;
    const TaskId task = points.task(CallId{c});
    editor.remove_edges(end_of(task), EdgeKind::kHostSync);
    editor.set_duration(task, std::min(kFromPool, points.interval(task).length()), true);
    ++calls;
  }
  if (calls == 0) return not_here("nothing is allocated or freed on the device");
  return {true, fmt::format("{} allocations and frees take a microsecond", calls), editor.take()};
}

}  // namespace

const Fix kCachingAllocator{"caching-allocator",
                            "Take memory from a pool",
                            "allocator",
                            FixKind::kModelled,
                            0.1,
                            "--allocator caching",
                            "Allocations and frees take 1 µs, and a free waits for no kernel.",
                            "whether the pool fits into memory",
                            propose};

}  // namespace headway::analyzer
