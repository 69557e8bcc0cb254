// SPDX-License-Identifier: MIT
#include "collector/inject/cuda.h"

#include <atomic>
#include <cstdio>

#include "collector/inject/definitions.h"
#include "collector/inject/thread.h"

namespace headway::inject {

void describe_cuda(Cupti& cupti, char* text, std::size_t capacity) {
  if (const char* reason = cupti.open()) {
    std::snprintf(text, capacity, "off: %s", reason);
    return;
  }
  int result = cupti.subscribe();
  if (result != 0) {
    const char* name = cupti.result_text(result);
    std::snprintf(text, capacity, "off: cuptiSubscribe failed with %d (%s)", result,
                  name ? name : "unknown");
    return;
  }
  // One subscriber per process: the program's own profiler may want to be it.
  cupti.unsubscribe();
  std::snprintf(text, capacity,
                "off: CUPTI %u answers, but this version of Headway records NVTX only",
                cupti.version());
}

void start_cuda(Cupti& cupti) {
  static constinit std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  char text[256];
  describe_cuda(cupti, text, sizeof text);
  Entry entry;
  if (entry) define_note(wire::NoteKey::kCuda, text);
}

}  // namespace headway::inject
