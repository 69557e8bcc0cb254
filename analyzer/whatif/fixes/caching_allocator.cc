// SPDX-License-Identifier: MIT
// Memory comes from a pool: allocating and freeing cost next to nothing and do not wait for the
// device.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Time of an allocation from a pool: a look-up in a tree under a lock. Zero if memory is planned
/// in advance; more if the framework keeps statistics.
constexpr DurationNs kFromPool{200};
constexpr DurationNs kLeastFromPool{0};
constexpr DurationNs kMostFromPool{1'000};

/// Replaces the driver's calls. Returns the number of replaced calls.
std::int64_t take_from_pool(const Predictor& predictor, DurationNs cost, Editor& editor) {
  const Trace& trace = predictor.trace();
  const Points& points = predictor.program().graph().points();
  std::int64_t calls = 0;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    if (class_of_call(trace.calls.kind[c]) != TimeClass::kAllocator) continue;
    const TaskId task = points.task(CallId{c});
    editor.remove_edges(end_of(task), EdgeKind::kHostSync);
    editor.set_duration(task, std::min(cost, points.interval(task).length()), true);
    ++calls;
  }
  return calls;
}

Proposal propose(const Predictor& predictor) {
  Editor editor(predictor);
  const std::int64_t calls = take_from_pool(predictor, kFromPool, editor);
  if (calls == 0) return not_here("no device allocations or frees");
  Proposal proposal{true, fmt::format("{} allocations and frees take 0.2 µs each", calls),
                    editor.take()};
  for (const DurationNs cost : {kLeastFromPool, kMostFromPool}) {
    Editor other(predictor);
    take_from_pool(predictor, cost, other);
    proposal.otherwise.push_back(other.take());
  }
  return proposal;
}

}  // namespace

const Fix kCachingAllocator{
    "caching-allocator",
    "Allocate from a memory pool",
    "allocator",
    FixKind::kModelled,
    0.1,
    "--allocator caching",
    "Allocations and frees take 0.2 µs, and a free waits for no kernel.",
    "whether the pool fits into memory, and its own cost (0 to 1 µs, in the interval)",
    propose};

}  // namespace headway::analyzer
