// SPDX-License-Identifier: MIT
#include "collector/inject/cuda.h"

#include <doctest/doctest.h>

#include <string>

namespace headway::inject {
namespace {

struct FakeCupti final : Cupti {
  const char* open_failure = nullptr;
  int subscribe_result = 0;
  int subscribed = 0;

  const char* open() override { return open_failure; }
  std::uint32_t version() override { return 130001; }
  int subscribe() override {
    if (subscribe_result == 0) ++subscribed;
    return subscribe_result;
  }
  void unsubscribe() override { --subscribed; }
  const char* result_text(int result) override {
    return result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : nullptr;
  }
};

std::string describe(FakeCupti& cupti) {
  char text[256];
  describe_cuda(cupti, text, sizeof text);
  return text;
}

}  // namespace

TEST_CASE("the state of CUDA names the reason: no library, another profiler, or a plain number") {
  FakeCupti cupti;
  cupti.open_failure = "libcupti was not found";
  CHECK(describe(cupti) == "off: libcupti was not found");
  cupti.open_failure = nullptr;
  cupti.subscribe_result = 39;
  CHECK(describe(cupti) ==
        "off: cuptiSubscribe failed with 39 (CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)");
  cupti.subscribe_result = 999;
  CHECK(describe(cupti) == "off: cuptiSubscribe failed with 999 (unknown)");
}

TEST_CASE("CUPTI is not kept from the program's own profiler") {
  FakeCupti cupti;
  CHECK(describe(cupti).starts_with("off: CUPTI 130001 answers"));
  CHECK(cupti.subscribed == 0);
}

TEST_CASE("the installed CUPTI says what it is or why it is not") {
  Cupti& cupti = installed_cupti();
  char text[256];
  describe_cuda(cupti, text, sizeof text);
  CHECK(std::string(text).starts_with("off: "));
}

}  // namespace headway::inject
