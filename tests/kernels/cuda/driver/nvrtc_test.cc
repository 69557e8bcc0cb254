// SPDX-License-Identifier: MIT
// NVRTC itself, which needs no GPU, where the toolkit or this machine has it.
#include "kernels/cuda/driver/nvrtc.h"

#include <doctest/doctest.h>

#include "common/error.h"

namespace headway::cuda {
namespace {

constexpr int kNewDriver = 13000;
constexpr const char* kKernel =
    "#include \"value.h\"\nextern \"C\" __global__ void fill(float* to) { *to = kValue; }\n";
constexpr CodeHeader kHeaders[] = {{"value.h", "constexpr float kValue = 7.0F;\n"}};

std::unique_ptr<const Nvrtc> load() {
  std::string why;
  auto nvrtc = Nvrtc::load(kNewDriver, why);
  if (!nvrtc) MESSAGE("[skipped] ", why);
  return nvrtc;
}

}  // namespace

TEST_CASE("a driver that is too old for any NVRTC is told so") {
  std::string why;
  CHECK(!Nvrtc::load(11080, why));
  CHECK(why == "NVRTC needs a driver of CUDA 12 or newer");
}

TEST_CASE(
    "NVRTC makes machine code for GPUs that it knows, PTX for newer ones, nothing for older") {
  const auto nvrtc = load();
  if (!nvrtc) return;
  std::string why;
  CHECK(nvrtc->target(90, why)->name() == "sm_90");
  const std::string code = nvrtc->compile("fill", kKernel, kHeaders, *nvrtc->target(90, why));
  CHECK(
      code.starts_with("\x7F"
                       "ELF"));
  const auto newer = nvrtc->target(999, why);
  REQUIRE(newer.has_value());
  CHECK(newer->name().starts_with("compute_"));
  const std::string ptx = nvrtc->compile("fill", kKernel, kHeaders, *newer);
  CHECK(ptx.find(".version") != std::string::npos);
  CHECK(ptx.find(".entry fill") != std::string::npos);
  CHECK(!nvrtc->target(20, why));
  CHECK(why ==
        "NVRTC " + nvrtc->version() + " does not compile for GPUs of compute capability 2.0");
}

TEST_CASE("what NVRTC refuses is told with its log") {
  const auto nvrtc = load();
  if (!nvrtc) return;
  std::string why, message;
  try {
    nvrtc->compile("fill", kKernel, {}, *nvrtc->target(90, why));
  } catch (const Error& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find("cannot compile fill for sm_90") != std::string::npos);
  CHECK(message.find("fill.cu(1)") != std::string::npos);
  CHECK(message.find("value.h") != std::string::npos);
}

}  // namespace headway::cuda
