// SPDX-License-Identifier: MIT
#include "collector/inject/cuda.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "collector/wire/activity.h"

namespace headway::inject {
namespace {

using wire::ActivityKind;

/// Refuses what it is told to.
struct FakeCupti final : Cupti {
  const char* open_failure = nullptr;
  std::uint32_t number = 130001;
  int subscribe_result = 0;
  ActivityKind refused = ActivityKind::kInvalid;
  int subscribed = 0;
  std::vector<std::string> order;

  const char* open() override { return open_failure; }
  std::uint32_t version() override { return number; }
  int subscribe() override {
    order.emplace_back("subscribe");
    if (subscribe_result == 0) ++subscribed;
    return subscribe_result;
  }
  void unsubscribe() override { --subscribed; }
  const char* result_text(int result) override {
    return result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : nullptr;
  }
  void configure() override { order.emplace_back("configure"); }
  int register_buffers(BufferRequested, BufferCompleted) override {
    order.emplace_back("register");
    return 0;
  }
  int enable(ActivityKind kind) override {
    order.emplace_back("enable");
    return kind == refused ? 15 : 0;
  }
  int disable(ActivityKind) override { return 0; }
  int watch_profiler_calls(ProfilerCall) override { return 0; }
  int enable_call(bool, std::uint32_t, bool) override {
    order.emplace_back("call");
    return 0;
  }
  void leave_out_failed_queries() override {}
  int enable_latency_timestamps() override {
    order.emplace_back("latency");
    return 0;
  }
  int stream_number(void*, std::uint32_t&) override { return kMissing; }
  const char* call_name(bool, std::uint32_t) override { return nullptr; }
  bool next_record(std::uint8_t*, std::size_t, std::uint8_t**) override { return false; }
  std::size_t take_dropped() override { return 0; }
  void flush(bool) override {}
};

std::string collect(Cupti& cupti) {
  char text[256];
  collect_cuda(cupti, text, sizeof text);
  return text;
}

}  // namespace

TEST_CASE("the state of CUDA names the reason: no library, too old, another profiler, a number") {
  FakeCupti cupti;
  cupti.open_failure = "libcupti was not found";
  CHECK(collect(cupti) == "off: libcupti was not found");
  cupti.open_failure = nullptr;
  cupti.number = 18;
  CHECK(collect(cupti) == "off: CUPTI 18 is older than that of CUDA 12.0");
  cupti.number = 130001;
  cupti.subscribe_result = 39;
  CHECK(collect(cupti).starts_with(
      "off: cuptiSubscribe failed with 39 (CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)"));
  cupti.subscribe_result = 999;
  CHECK(collect(cupti) == "off: cuptiSubscribe failed with 999 (unknown)");
}

TEST_CASE("CUPTI that refuses kernels is given back to the program's own profiler") {
  FakeCupti cupti;
  cupti.refused = ActivityKind::kKernel;
  CHECK(collect(cupti) == "off: enabling CUPTI's activity records failed with 15 (unknown)");
  CHECK(cupti.subscribed == 0);
}

TEST_CASE("CUPTI is asked in the order that it wants: calls are chosen after their kind is on") {
  FakeCupti& cupti = *new FakeCupti;         // collects until the process ends
  cupti.refused = ActivityKind::kCudaEvent;  // not essential
  CHECK(collect(cupti) == "on: CUPTI 130001");
  CHECK(cupti.subscribed == 1);
  REQUIRE(cupti.order.size() > 5);
  CHECK(cupti.order[0] == "subscribe");
  CHECK(cupti.order[1] == "configure");
  CHECK(cupti.order[2] == "register");
  auto first_call = std::find(cupti.order.begin(), cupti.order.end(), "call");
  CHECK(std::find(first_call, cupti.order.end(), "enable") == cupti.order.end());
}

TEST_CASE("the installed CUPTI says what it is or why it is not") {
  CHECK(collect(installed_cupti()).starts_with("off: "));
}

TEST_CASE("the real CUPTI steps over records as Headway learns it from it") {
  Cupti& cupti = installed_cupti();
  if (const char* reason = cupti.open()) {
    MESSAGE("skipped: ", reason);
    return;
  }
  // Two records of each kind: where the second begins is the size of the first.
  for (ActivityKind kind : {ActivityKind::kRuntime, ActivityKind::kKernel, ActivityKind::kMemcpy,
                            ActivityKind::kMemcpyPeer, ActivityKind::kMemset,
                            ActivityKind::kSynchronization, ActivityKind::kOverhead,
                            ActivityKind::kDevice, ActivityKind::kContext, ActivityKind::kStream}) {
    alignas(8) std::uint8_t buffer[1024] = {};
    const auto number = static_cast<std::uint32_t>(kind);
    CAPTURE(number);
    // Wherever the second begins, it is of this kind.
    for (std::size_t at = 0; at < sizeof buffer; at += 8)
      std::memcpy(buffer + at, &number, sizeof number);
    std::uint8_t* first = nullptr;
    REQUIRE(cupti.next_record(buffer, sizeof buffer, &first));
    CHECK(first == buffer);
    std::uint8_t* second = first;
    REQUIRE(cupti.next_record(buffer, sizeof buffer, &second));
    const std::ptrdiff_t stride = second - first;
    CHECK(stride >= static_cast<std::ptrdiff_t>(kind == ActivityKind::kKernel   ? 160
                                                : kind == ActivityKind::kDevice ? 144
                                                                                : 16));
    CHECK(stride <= 256);
    CHECK(stride % 8 == 0);
  }
}

}  // namespace headway::inject
