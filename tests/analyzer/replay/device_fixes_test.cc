// SPDX-License-Identifier: MIT
// Fixes of copies, clocks and batches, against runs that are simulated with the change in place.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/kernel_rates.h"
#include "analyzer/whatif/whatif.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

struct Predicted {
  Predicted(const TextRun& run, std::string_view fix)
      : predictor(run.trace, run.analysis), proposal(find_fix(fix)->propose(predictor)) {}
  double step_us() const {
    return static_cast<double>(predictor.predict(proposal.scenario).step.ns) / 1e3;
  }
  double recorded_us() const { return static_cast<double>(predictor.baseline().recorded.ns) / 1e3; }
  Predictor predictor;
  Proposal proposal;
};

/// 20 MB are copied to the device and the kernels wait for them.
TextRun with_copy(const std::string& how) {
  return TextRun(
      fmt::format("thread main\n  steps 30\n    copy h2d 20MB stream=compute {}\n", how) +
      test::healthy_step());
}

TextRun with_kernels(int us, int batch, int blocks, const std::string& meta = "") {
  return TextRun(
      fmt::format("{}thread main\n  steps 30\n    repeat 20\n      host 4us\n"
                  "      launch s16816gemm {}us math=tensor blocks={}\n"
                  "    launch tiny 2us blocks=1\n"
                  "    launch adam 100us blocks=320 phase=update\n    sync stream\n",
                  meta, us * batch, blocks));
}

}  // namespace

TEST_CASE("copies from pinned memory take what they take at its rate, and the host goes on") {
  const TextRun now = with_copy("memory=pageable rate=4GB/s");
  const Predicted pageable(now, "pinned-copies");
  REQUIRE(pageable.proposal.applies);
  // Nothing pinned was recorded: 25 GB/s, of an A100's slot.
  CHECK(pageable.proposal.text.find("PCIe 4.0 x16: no pinned copy was recorded") !=
        std::string::npos);
  const TextRun then = with_copy("memory=pinned rate=25GB/s");
  const Predicted pinned(then, "pinned-copies");
  CHECK_FALSE(pinned.proposal.applies);
  CHECK(pageable.step_us() == doctest::Approx(pinned.recorded_us()).epsilon(0.005));
}

TEST_CASE(
    "copies that are slower than any processor copies wait for the link, and pinned memory does "
    "not help") {
  const TextRun now = with_copy("memory=pageable rate=500MB/s");
  const Predicted pageable(now, "pinned-copies");
  REQUIRE(pageable.proposal.applies);
  CHECK(pageable.proposal.text.find("the link is slower") != std::string::npos);
  const TextRun then = with_copy("memory=pinned rate=500MB/s");
  CHECK(pageable.step_us() ==
        doctest::Approx(Predicted(then, "free-input").recorded_us()).epsilon(0.005));
}

TEST_CASE("at the full clock kernels take less in proportion, where samples show a lower one") {
  const TextRun half =
      with_kernels(500, 1, 864, "counter gpu.sm_clock 705M..705M unit=Hz device=0 every=10ms\n");
  const Predicted predicted(half, "full-clock");
  REQUIRE(predicted.proposal.applies);
  CHECK(find_fix("full-clock")->kind == FixKind::kCeiling);
  const TextRun full = with_kernels(250, 1, 864);
  const Predicted none(full, "full-clock");
  CHECK_FALSE(none.proposal.applies);
  CHECK(predicted.step_us() ==
        doctest::Approx(none.recorded_us() - 51).epsilon(0.005));  // tiny and adam halve, too
}

TEST_CASE(
    "twice the batch takes twice the time of full kernels, and that of half-empty ones stays") {
  const TextRun full = with_kernels(500, 1, 864);
  const Predicted twice_full(full, "larger-batch");
  REQUIRE(twice_full.proposal.applies);
  const TextRun then = with_kernels(500, 2, 1728);
  const Predicted larger(then, "larger-batch");
  // Per recorded batch; the update is made once for both.
  CHECK(twice_full.step_us() == doctest::Approx(larger.recorded_us() / 2).epsilon(0.005));

  const TextRun narrow = with_kernels(500, 1, 54);
  const Predicted twice_narrow(narrow, "larger-batch");
  REQUIRE(twice_narrow.proposal.applies);
  // 54 blocks leave half of 108 multiprocessors idle: 108 blocks take as long.
  CHECK(twice_narrow.step_us() == doctest::Approx(twice_narrow.recorded_us() / 2).epsilon(0.005));
}

TEST_CASE(
    "of a small kernel that waits for memory only the time that its bytes take is twice as long") {
  // 100 MB take 100 µs beyond the shortest kernel, so 2 MB take 2 of the 10 µs; those of the other family take 5 at its best.
  TextRun run(
      "thread main\n  steps 10\n    repeat 10\n      host 4us\n"
      "      launch \"void at::native::vectorized_elementwise_kernel<4, MulFunctor<float>>(x)\" "
      "102us "
      "blocks=8640 bytes=100MB\n"
      "      launch \"void at::native::reduce_kernel<512, 1, SumOps<float>>(x)\" 12us blocks=864 "
      "bytes=2MB\n"
      "      launch \"void at::native::reduce_kernel<512, 4, MeanOps<float>>(x)\" 22us blocks=864 "
      "bytes=8MB\n"
      "    launch tiny 2us blocks=1\n    launch adam 100us blocks=320 phase=update\n"
      "    sync stream\n");
  const Predictor predictor(run.trace, run.analysis);
  const MemoryRates rates(predictor);
  const trace::DeviceOps& ops = run.trace.device_ops;
  auto share = [&](std::int64_t bytes, TimePerByte time) {
    for (std::uint32_t i = 0; i < ops.size(); ++i)
      if (ops.bytes[i] == bytes) return rates.share_of_bytes(trace::DeviceOpId{i}, time);
    return -1.0;
  };
  CHECK(share(100'000'000, TimePerByte::kLikely) == doctest::Approx(1));
  CHECK(share(2'000'000, TimePerByte::kOwn) == 1);
  CHECK(share(2'000'000, TimePerByte::kBest) == doctest::Approx(0.2).epsilon(0.01));
  CHECK(share(2'000'000, TimePerByte::kLikely) == doctest::Approx((0.2 + 0.5) / 2).epsilon(0.01));
  CHECK(share(8'000'000, TimePerByte::kLikely) == doctest::Approx((0.4 + 1) / 2).epsilon(0.01));
  // No kernel takes less than these do for as many bytes.
  const trace::DeviceId device{0};
  CHECK(rates.least_ns(device, 4e6) == doctest::Approx(std::sqrt(2.0) * 10'000).epsilon(0.01));
  CHECK(rates.least_ns(device, 200e6) == doctest::Approx(200'000).epsilon(0.01));
  // A processor is under way at once: what is slower than its best kernel is so with twice the bytes, too.
  run.trace.devices[0].type = trace::DeviceType::kHost;
  CHECK(share(2'000'000, TimePerByte::kLikely) == 1);
}

TEST_CASE("an update in one pass writes weights in 16 bits, one of several passes reads less") {
  auto predicted_us = [](const std::string& update) {
    const TextRun run(
        "device cuda \"NVIDIA A100-SXM4-40GB\" sms=108 cc=8.0 memory=40GB bandwidth=1555GB/s\n"
        "thread main\n  steps 20\n    launch ampere_sgemm_128x128_tn 1ms math=general blocks=1000 "
        "flops=10G bytes=10MB\n    launch tiny 1us blocks=1\n" +
        update + "    sync stream\n");
    return Predicted(run, "half-precision").step_us();
  };
  const std::string pass = "    launch adam 101us blocks=32000 phase=update\n";
  const std::string part = "    launch adam 51us blocks=32000 phase=update\n";
  const std::string passes = part + "    launch adam_apply 51us blocks=32000 phase=update\n";
  CHECK(predicted_us(pass) - predicted_us("    launch adam 1us blocks=1 phase=update\n") ==
        doctest::Approx(100).epsilon(0.01));
  CHECK(predicted_us(part + part) - predicted_us(passes) == doctest::Approx(8).epsilon(0.1));
}

TEST_CASE("a small update takes as long again to unscale its gradient, a large one a sixth") {
  auto predicted_us = [](const std::string& update) {
    const TextRun run(
        "device cuda \"Tesla V100-SXM2-16GB\" sms=80 cc=7.0 memory=16GB bandwidth=900GB/s\n"
        "thread main\n  steps 20\n    launch volta_sgemm_128x128_tn 1ms math=general blocks=1000 "
        "flops=10G bytes=10MB\n    launch tiny 1us blocks=1\n" +
        update + "    sync stream\n");
    return Predicted(run, "half-precision").step_us();
  };
  const double none = predicted_us("    launch adam 1us blocks=1 phase=update\n");
  // Unscaling moves 0.35 of an update's bytes, half of it in 16 bits. Blocks that run at once take
  // as long as one.
  CHECK(predicted_us("    launch adam 101us blocks=32000 phase=update\n") - none ==
        doctest::Approx(100 + 17.5).epsilon(0.02));
  CHECK(predicted_us("    launch adam 11us blocks=40 phase=update\n") - none ==
        doctest::Approx(10 + 10).epsilon(0.02));
}

TEST_CASE("what the host computed from device data takes a kernel on the device") {
  const std::string kernels = "      launch s16816gemm 500us math=tensor blocks=864\n";
  auto run = [&](const std::string& middle) {
    return TextRun(
        "thread main\n  steps 30\n    repeat 8\n" + kernels + middle + "    repeat 8\n" + kernels +
        "    launch tiny 10us blocks=1\n    launch adam 100us blocks=320 phase=update\n");
  };
  const TextRun trip =
      run("    copy d2h 2MB memory=pinned stream=compute\n    sync stream\n    host 800us\n"
          "    copy h2d 1MB memory=pinned stream=compute\n");
  const Predicted predicted(trip, "stay-on-device");
  REQUIRE(predicted.proposal.applies);
  const TextRun kernel = run("    launch index 10us blocks=1\n");
  const Predicted none(kernel, "stay-on-device");
  CHECK_FALSE(none.proposal.applies);
  CHECK(predicted.step_us() == doctest::Approx(none.recorded_us()).epsilon(0.005));
}

TEST_CASE(
    "what runs once per sample runs once for all, as long as it then takes to fill the device") {
  auto run = [](int repeat, int us, int blocks) {
    std::string one;
    for (const char* name : {"indexSelectLargeIndex", "MulFunctor", "CatArrayBatchedCopy"})
      one += fmt::format("      launch \"void at::native::{}<float>(x)\" {}us blocks={}\n", name,
                         us, blocks);
    return TextRun(
        fmt::format("thread main\n  steps 30\n    repeat {}\n{}    repeat 10\n"
                    "      launch s16816gemm 300us math=tensor blocks=864\n"
                    "    launch tiny 2us blocks=1\n    sync stream\n",
                    repeat, one));
  };
  const TextRun serial = run(64, 8, 4);
  const Predicted predicted(serial, "batch-samples");
  REQUIRE(predicted.proposal.applies);
  // 256 blocks on 108 multiprocessors: three waves of 6 µs beyond the shortest kernel.
  const TextRun batched = run(1, 20, 256);
  const Predicted none(batched, "batch-samples");
  CHECK_FALSE(none.proposal.applies);
  CHECK(predicted.step_us() == doctest::Approx(none.recorded_us()).epsilon(0.01));
}

TEST_CASE("a slow data gradient comes down to one and a half times its forward pass") {
  auto run = [](int gradient_us) {
    return TextRun(
        fmt::format("thread main\n  steps 30\n"
                    "    range aten::convolution phase=forward sequence=10\n"
                    "      launch igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32 1ms blocks=864\n"
                    "    range ConvolutionBackward0 phase=backward sequence=10\n"
                    "      launch igemm_bwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32 {}us blocks=864\n "
                    "   sync stream\n",
                    gradient_us));
  };
  const TextRun slow = run(4000);
  const Predicted predicted(slow, "faster-gradients");
  REQUIRE(predicted.proposal.applies);
  const TextRun better = run(1500);
  const Predicted none(better, "faster-gradients");
  CHECK_FALSE(none.proposal.applies);
  CHECK(predicted.step_us() == doctest::Approx(none.recorded_us()).epsilon(0.005));
}

TEST_CASE("a larger batch is not added to other fixes: its lengths are per recorded batch") {
  const TextRun narrow = with_kernels(500, 1, 54);
  const Predictor predictor(narrow.trace, narrow.analysis);
  const WhatIf result = what_if(predictor);
  CHECK(result.fixes.front().fix->id == "larger-batch");
  for (const Combination& one : result.best) CHECK(one.fix->id != "larger-batch");
}

TEST_CASE(
    "a product that leaves most of the device idle gains from tensor cores, or not: half of it is "
    "likely") {
  // 8 blocks on 108 multiprocessors: filled, its arithmetic would take less than its bytes.
  const TextRun run(
      "thread main\n  steps 30\n    repeat 20\n      host 4us\n"
      "      launch ampere_sgemm_128x64_nn 50us math=general blocks=8 bytes=4MB flops=30M\n"
      "    launch tiny 2us blocks=1\n    sync stream\n");
  for (const char* fix : {"tensor-cores", "half-precision"}) {
    CAPTURE(fix);
    const Predicted predicted(run, fix);
    REQUIRE(predicted.proposal.applies);
    REQUIRE(predicted.proposal.otherwise.size() == 2);
    auto gain_us = [&](const Scenario& scenario) {
      return static_cast<double>(predicted.predictor.predict(scenario).gain.ns) / 1e3;
    };
    const double latency = gain_us(predicted.proposal.otherwise[0]);
    const double arithmetic = gain_us(predicted.proposal.otherwise[1]);
    CHECK(arithmetic > latency + 20 * 15);
    const double half = (latency + arithmetic) / 2;
    CHECK(gain_us(predicted.proposal.scenario) ==
          doctest::Approx(half).epsilon(0.2 * (arithmetic - latency) / half));
  }
}

}  // namespace headway::analyzer
