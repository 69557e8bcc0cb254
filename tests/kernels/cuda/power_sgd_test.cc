// SPDX-License-Identifier: MIT
// Against the processor's kernels (kernels/power_sgd/op.h), whose sums have another order.
#include <doctest/doctest.h>

#include "kernels/stream_op/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/power_bucket.h"

namespace headway::test {
namespace {

using namespace kernels;
using kernels::cuda::Limits;

constexpr NumberFormat kFull = NumberFormat::kFloat32;

/// The arrays of a bucket on the device.
struct OnDevice {
  Array flat, error, p, second;
  PowerLayout layout;

  OnDevice(PowerBucket& bucket, std::size_t offset)
      : flat(kFull, bucket.flat, offset),
        error(kFull, bucket.error, offset),
        p(kFull, static_cast<std::int64_t>(std::max<std::size_t>(1, bucket.p.size())), offset),
        second(kFull, bucket.second, offset),
        layout(bucket.layout()) {
    layout.flat = flat.floats(), layout.error = error.floats();
    layout.p = p.floats(), layout.second = second.floats();
  }
  /// The processor goes on with what the device has, so that each product is compared by itself.
  void copy_to(PowerBucket& bucket) const {
    bucket.flat = flat.read(), bucket.error = error.read(), bucket.second = second.read();
    if (!bucket.p.empty()) bucket.p = p.read();
  }
};

/// One exchange on both sides.
void check_exchange(const Limits& limits, PowerBucket& bucket, std::size_t offset) {
  constexpr double kTolerance = 2e-5;
  OnDevice device(bucket, offset);
  run(PowerFirst{bucket.layout()});
  gpu().run(kernels::cuda::launches(limits, PowerFirst{device.layout}));
  CHECK(device.flat.read() == bucket.flat);
  if (!bucket.p.empty()) CHECK(largest_difference(device.p.read(), bucket.p) < 10 * kTolerance);
  device.copy_to(bucket);
  run(PowerSecond{bucket.layout()});
  gpu().run(kernels::cuda::launches(limits, PowerSecond{device.layout}));
  if (!bucket.p.empty()) CHECK(largest_difference(device.p.read(), bucket.p) < 10 * kTolerance);
  CHECK(largest_difference(device.second.read(), bucket.second) < 10 * kTolerance);
  device.copy_to(bucket);
  run(PowerRestore{bucket.layout(), 0.5F});
  gpu().run(kernels::cuda::launches(limits, PowerRestore{device.layout, 0.5F}));
  CHECK(device.second.read() == bucket.second);
  CHECK(largest_difference(device.flat.read(), bucket.flat) < kTolerance);
  CHECK(largest_difference(device.error.read(), bucket.error) < kTolerance);
  device.copy_to(bucket);
}

}  // namespace

TEST_CASE("PowerSGD agrees with the processor, for any shape, rank and address") {
  for (int rank : {1, 2, 7}) {
    for (std::size_t offset : {0U, 1U}) {
      for (std::int64_t gap : {0, 8, 41}) {
        CAPTURE(rank);
        CAPTURE(offset);
        CAPTURE(gap);
        // Multiples of packs and tiles, odd ones, rows that a block takes, matrices of few rows or columns.
        PowerBucket bucket(rank,
                           {{64, 64},
                            {33, 65},
                            {100, 129},
                            {67, 1028},
                            {34, 1031},
                            {300, 70},
                            {9, 7},
                            {700, 12},
                            {8, 3000}},
                           gap);
        check_exchange(gpu().limits(), bucket, offset);
        if (gap == 41) check_exchange(gpu().limits(), bucket, offset);
      }
    }
  }
}

TEST_CASE("PowerSGD of the largest rank agrees with the processor") {
  // Far more rows and columns than the rank, else rounding decides what is left of the last columns.
  PowerBucket bucket(64, {{260, 300}}, 3);
  check_exchange(gpu().limits(), bucket, 0);
}

TEST_CASE("P is orthonormal, whatever M's rank, and after a gradient of zeros") {
  for (int rank : {1, 3, 9}) {
    CAPTURE(rank);
    PowerBucket bucket(rank, {{200, 150}, {100, 1100}}, 0);
    OnDevice device(bucket, 0);
    gpu().run(kernels::cuda::launches(gpu().limits(), PowerFirst{device.layout}));
    gpu().run(kernels::cuda::launches(gpu().limits(), PowerSecond{device.layout}));
    device.copy_to(bucket);
    CHECK(bucket.largest_product_error() < 1e-4);
    PowerBucket zeros = bucket;
    std::fill(zeros.flat.begin(), zeros.flat.end(), 0.0F);
    std::fill(zeros.error.begin(), zeros.error.end(), 0.0F);
    OnDevice nothing(zeros, 0);
    gpu().run(kernels::cuda::launches(gpu().limits(), PowerFirst{nothing.layout}));
    gpu().run(kernels::cuda::launches(gpu().limits(), PowerSecond{nothing.layout}));
    nothing.copy_to(zeros);
    CHECK(zeros.largest_product_error() < 1e-6);
    CHECK(zeros.second == std::vector<float>(zeros.second.size(), 0.0F));
  }
  // One direction: the other columns are rounding.
  PowerBucket narrow(4, {{60, 90}}, 0);
  const auto left = random_floats(60, 7), right = random_floats(90, 8);
  for (std::size_t i = 0; i < 60 * 90; ++i) narrow.flat[i] = left[i / 90] * right[i % 90];
  std::fill(narrow.error.begin(), narrow.error.end(), 0.0F);
  const std::vector<float> before = narrow.flat;
  OnDevice device(narrow, 0);
  gpu().run(kernels::cuda::launches(gpu().limits(), PowerFirst{device.layout}));
  gpu().run(kernels::cuda::launches(gpu().limits(), PowerSecond{device.layout}));
  gpu().run(kernels::cuda::launches(gpu().limits(), PowerRestore{device.layout, 1}));
  CHECK(largest_difference(device.flat.read(), before) < 1e-3);
}

TEST_CASE("PowerSGD over more matrices than a table holds, and over none") {
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes(150, {12, 20});
  for (std::size_t bytes : {kernels::cuda::kSmallParameters, kernels::cuda::kLargeParameters}) {
    const Limits limits{gpu().limits().multiprocessors, bytes};
    PowerBucket many(2, shapes, 3);
    CHECK(kernels::cuda::launches(limits, PowerFirst{many.layout()}).size() ==
          (bytes == kernels::cuda::kLargeParameters ? 2 : 3));
    check_exchange(limits, many, 0);
    PowerBucket none(2, {}, 37);
    check_exchange(limits, none, 0);
  }
}

TEST_CASE("PowerSGD gives the same bits on a GPU of any size") {
  PowerBucket bucket(3, {{100, 1100}, {333, 64}}, 5);
  std::vector<std::vector<float>> results;
  for (int multiprocessors : {0, 7, 132}) {
    OnDevice device(bucket, 0);
    const Limits limits{multiprocessors, kernels::cuda::kLargeParameters};
    gpu().run(kernels::cuda::launches(limits, PowerFirst{device.layout}));
    gpu().run(kernels::cuda::launches(limits, PowerSecond{device.layout}));
    gpu().run(kernels::cuda::launches(limits, PowerRestore{device.layout, 0.25F}));
    results.push_back(device.flat.read());
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

}  // namespace headway::test
