// SPDX-License-Identifier: MIT
// In place of cupti_library.cc when Headway is built with HEADWAY_CUDA=OFF.
#include "collector/inject/cupti.h"

namespace headway::inject {
namespace {

class CuptiAbsent final : public Cupti {
 public:
  const char* open() override { return "this Headway was built without CUDA (HEADWAY_CUDA=OFF)"; }
  std::uint32_t version() override { return 0; }
  int subscribe() override { return -1; }
  void unsubscribe() override {}
  const char* result_text(int) override { return nullptr; }
  void configure() override {}
  int register_buffers(BufferRequested, BufferCompleted) override { return kMissing; }
  int enable(wire::ActivityKind) override { return kMissing; }
  int disable(wire::ActivityKind) override { return kMissing; }
  int watch_profiler_calls(ProfilerCall) override { return kMissing; }
  int enable_call(bool, std::uint32_t, bool) override { return kMissing; }
  void leave_out_failed_queries() override {}
  int enable_latency_timestamps() override { return kMissing; }
  int stream_number(void*, std::uint32_t&) override { return kMissing; }
  const char* call_name(bool, std::uint32_t) override { return nullptr; }
  bool next_record(std::uint8_t*, std::size_t, std::uint8_t**) override { return false; }
  std::size_t take_dropped() override { return 0; }
  void flush(bool) override {}
};

constinit CuptiAbsent g_absent{};

}  // namespace

Cupti& installed_cupti() {
  return g_absent;
}

}  // namespace headway::inject
