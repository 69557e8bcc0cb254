// SPDX-License-Identifier: MIT
#include "collector/inject/cuda.h"

#include <atomic>
#include <cstdio>

#include "collector/inject/activity.h"
#include "collector/inject/definitions.h"
#include "collector/inject/thread.h"

namespace headway::inject {
namespace {

/// CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
constexpr int kMultipleSubscribers = 39;

}  // namespace

void collect_cuda(Cupti& cupti, char* text, std::size_t capacity) {
  // Records of CUDA 11 have other layouts.
  constexpr std::uint32_t kOldest = 19;
  if (const char* reason = cupti.open()) {
    std::snprintf(text, capacity, "off: %s", reason);
    return;
  }
  if (cupti.version() < kOldest) {
    std::snprintf(text, capacity, "off: CUPTI %u is older than that of CUDA 12.0", cupti.version());
    return;
  }
  const char* step = "cuptiSubscribe";
  int result = cupti.subscribe();
  if (result == 0) {
    step = "enabling CUPTI's activity records";
    result = start_activity(cupti);
    if (result != 0) cupti.unsubscribe();
  }
  if (result == 0) {
    std::snprintf(text, capacity, "on: CUPTI %u", cupti.version());
    return;
  }
  const char* name = cupti.result_text(result);
  std::snprintf(text, capacity, "off: %s failed with %d (%s)%s", step, result,
                name ? name : "unknown",
                result == kMultipleSubscribers
                    ? "; another profiler holds CUPTI in this process: run without it"
                    : "");
}

void start_cuda(Cupti& cupti) {
  static constinit std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  char text[256];
  collect_cuda(cupti, text, sizeof text);
  Entry entry;
  if (entry) define_note(wire::NoteKey::kCuda, text);
}

}  // namespace headway::inject
