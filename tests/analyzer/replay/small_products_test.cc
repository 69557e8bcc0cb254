// SPDX-License-Identifier: MIT
#include "analyzer/whatif/small_products.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/replay/predictor.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

constexpr std::int32_t kMultiprocessors = 108;
constexpr double kFlopsPerS = 200e12;

/// Products of ten blocks on an A100: by time (µs) and by the kB that they move.
TextRun products(const std::vector<std::pair<int, int>>& sizes) {
  std::string lines;
  for (const auto& [us, kilobytes] : sizes)
    lines += fmt::format(
        "      launch ampere_fp16_s16816gemm_fp16_64x64_tn {}us call=4us math=tensor blocks=10 "
        "flops=1M bytes={}KB\n",
        us, kilobytes);
  return TextRun(
      "device cuda \"NVIDIA A100-SXM4-40GB\" sms=108 cc=8.0 memory=40GB bandwidth=1555GB/s\n"
      "thread main\n  steps 20\n    repeat 3\n" +
      lines + "      launch tiny 1us blocks=1\n    sync stream\n");
}

/// Of the first product, with so many times the bytes.
double share_left(const TextRun& run, double bytes, SmallProduct held_by) {
  const Predictor predictor(run.trace, run.analysis);
  const SmallProducts small(predictor, kMultiprocessors,
                            [](trace::DeviceOpId) { return kFlopsPerS; });
  const auto left = small.share_left(trace::DeviceOpId{0}, 1, bytes, held_by);
  REQUIRE(left);
  return *left;
}

}  // namespace

TEST_CASE("small products: of one size, half the bytes may save nothing or half") {
  const TextRun run = products({{9, 200}});
  // But for what the bytes take at the rate of large kernels, 0.3 of the 8 µs.
  CHECK(share_left(run, 0.5, SmallProduct::kLatency) == doctest::Approx(0.983).epsilon(0.002));
  CHECK(share_left(run, 0.5, SmallProduct::kArithmetic) == doctest::Approx(0.5));
  const double likely = share_left(run, 0.5, SmallProduct::kEither);
  CHECK(likely > 0.6);
  CHECK(likely < 0.8);
}

TEST_CASE("small products: where sizes from one to four take one time, all wait for latency") {
  const TextRun run = products({{9, 400}, {9, 100}, {9, 200}});
  CHECK(share_left(run, 0.5, SmallProduct::kEither) == doctest::Approx(1));
  // Beyond the largest, what more bytes take at least.
  CHECK(share_left(run, 2, SmallProduct::kEither) == doctest::Approx(1.14).epsilon(0.01));
  // Nobody saw that much, so it may be otherwise.
  CHECK(share_left(run, 2, SmallProduct::kArithmetic) > 1.5);
}

TEST_CASE("small products: where the time grows as the work does, half the work takes half of it") {
  const TextRun run = products({{17, 400}, {5, 100}, {9, 200}});  // 1 µs of each takes any kernel
  CHECK(share_left(run, 0.5, SmallProduct::kEither) == doctest::Approx(0.5).epsilon(0.02));
  CHECK(share_left(run, 2, SmallProduct::kEither) == doctest::Approx(2).epsilon(0.02));
}

TEST_CASE(
    "small products: on slower units arithmetic hides latency, comes on top of it, or waits as "
    "often") {
  // Ten blocks compute for 5.4 µs of the 8 that go beyond the shortest kernel.
  const TextRun run(
      "device cuda \"NVIDIA A100-SXM4-40GB\" sms=108 cc=8.0 memory=40GB bandwidth=1555GB/s\n"
      "thread main\n  steps 20\n    repeat 3\n      launch ampere_fp16_s16816gemm_fp16_64x64_tn "
      "9us call=4us math=tensor blocks=10 flops=100M bytes=200KB\n"
      "      launch tiny 1us blocks=1\n    sync stream\n");
  const Predictor predictor(run.trace, run.analysis);
  const SmallProducts small(predictor, kMultiprocessors,
                            [](trace::DeviceOpId) { return kFlopsPerS; });
  auto left = [&](SmallProduct held_by) {
    return small.share_left(trace::DeviceOpId{0}, 0.1, 1, held_by).value_or(0);
  };
  CHECK(left(SmallProduct::kLatency) == doctest::Approx(54.0 / 8));
  CHECK(left(SmallProduct::kArithmetic) == doctest::Approx(54 / 5.4));
  CHECK(left(SmallProduct::kEither) == doctest::Approx((54 + 56.6) / 16));
}

TEST_CASE(
    "arithmetic that takes over is that of large kernels, memory half way from what the kernel "
    "reaches") {
  const KernelBound arithmetic{10, 5};
  CHECK(arithmetic.share_left(4, 0.5, 20) == doctest::Approx(0.25));
  CHECK(arithmetic.share_left(16, 0.5, 20) == doctest::Approx(0.125 / std::sqrt(0.5)));
  CHECK(arithmetic.share_left(16, 0.5, 10) == doctest::Approx(0.25));
  const KernelBound memory{2, 5};
  CHECK(memory.share_left(4, 0.5, 10) == doctest::Approx(0.5));
  CHECK(memory.share_left(0.125, 2, 10) == doctest::Approx(2.1));
}

TEST_CASE("small products: the bound of a product without counts is not known") {
  const TextRun run(
      "thread main\n  steps 20\n    launch ampere_sgemm_64x64_tn 9us blocks=10\n    sync "
      "stream\n");
  const Predictor predictor(run.trace, run.analysis);
  const SmallProducts small(predictor, kMultiprocessors,
                            [](trace::DeviceOpId) { return kFlopsPerS; });
  CHECK(!small.share_left(trace::DeviceOpId{0}, 2, 0.5, SmallProduct::kEither));
  CHECK(small.ends().size() == 2);
}

}  // namespace headway::analyzer
