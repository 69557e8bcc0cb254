// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernels/cast/op.h"
#include "kernels/half.h"
#include "kernels/parallel.h"
#include "kernels/stream_op/op.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::random_floats;

/// Gradients in all formats in turn, with the values that they hold.
struct Gradients {
  std::vector<std::vector<float>> values;
  std::vector<std::vector<std::uint16_t>> bits;
  std::vector<GradientTensor> tensors;
  std::int64_t count = 0;

  explicit Gradients(const std::vector<std::int64_t>& counts, std::uint32_t seed = 1) {
    constexpr NumberFormat kFormats[] = {NumberFormat::kFloat32, NumberFormat::kFloat16,
                                         NumberFormat::kBfloat16};
    bits.resize(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      values.push_back(random_floats(counts[i], seed + static_cast<std::uint32_t>(i)));
      const NumberFormat format = kFormats[i % 3];
      for (float& value : values[i]) value = reference::round_to(format, value);
      for (float value : values[i])
        if (bits_of(format) == 16) bits[i].push_back(to_16_bits(format, value));
      void* at = bits_of(format) == 16 ? static_cast<void*>(bits[i].data()) : values[i].data();
      tensors.push_back({at, counts[i], 1, format});
      count += counts[i];
    }
  }
  /// As they are now.
  std::vector<float> all() const {
    std::vector<float> flat;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      for (std::size_t k = 0; k < values[i].size(); ++k)
        flat.push_back(bits[i].empty() ? values[i][k]
                                       : from_16_bits(tensors[i].format, bits[i][k]));
    return flat;
  }
  /// The values that tensors of these formats hold.
  std::vector<float> rounded(std::vector<float> flat) const {
    auto value = flat.begin();
    for (const GradientTensor& tensor : tensors)
      for (std::int64_t i = 0; i < tensor.count; ++i, ++value)
        *value = reference::round_to(tensor.format, *value);
    return flat;
  }
};

const std::vector<std::int64_t> kCounts = {1, 7, 0, 1025, 3, 40'001, 64, 0, 33'333};

}  // namespace

TEST_CASE(
    "every half float survives the way to FP32 and back, and every rounding is the nearest even "
    "one") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_half(half);
    const bool nan = (half & 0x7FFF) > 0x7C00;
    CHECK(std::isnan(value) == nan);
    if (!nan) CHECK(to_half(value) == half);
    if (!nan && (half & 0x7FFF) < 0x7C00)
      CHECK(reference::round_to(NumberFormat::kFloat16, value) == value);
  }
  for (float scale : {1e-9F, 1e-6F, 1e-3F, 1.0F, 1e3F, 5e4F, 1e30F})
    for (float value : random_floats(2000, 3, 0, scale)) {
      CHECK(from_half(to_half(value)) == reference::round_to(NumberFormat::kFloat16, value));
      CHECK(from_bfloat16(to_bfloat16(value)) ==
            reference::round_to(NumberFormat::kBfloat16, value));
    }
  CHECK(from_half(to_half(1 + 0x1p-11F)) == 1);              // ties to even, down
  CHECK(from_half(to_half(1 + 0x1.8p-10F)) == 1 + 0x1p-9F);  // and up
  CHECK(from_half(to_half(65520)) == INFINITY);
  CHECK(from_half(to_half(65519)) == 65504);
  CHECK(std::isnan(from_half(to_half(NAN))));
  CHECK(std::isnan(from_bfloat16(to_bfloat16(NAN))));
  CHECK(from_bfloat16(to_bfloat16(-INFINITY)) == -INFINITY);
}

TEST_CASE("gradients of all formats are packed one after the other, and come back divided") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    Gradients g(kCounts);
    const std::vector<float> before = g.all();
    std::vector<float> flat(static_cast<std::size_t>(g.count), NAN);
    run(PackGradients{g.tensors, flat.data()});
    CHECK(flat == before);
    for (float& value : flat) value += 1;
    run(UnpackGradients{g.tensors, flat.data(), 0.3F});
    std::vector<float> expected = flat;
    for (float& value : expected) value *= 0.3F;
    CHECK(g.all() == g.rounded(expected));
  }
  set_max_threads(1);
}

TEST_CASE("micro batches add up to their mean, in FP32 whatever the tensors' format") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    std::vector<double> exact;
    std::vector<float> sums;
    Gradients last(kCounts);
    constexpr int kBatches = 4;
    for (int batch = 0; batch < kBatches; ++batch) {
      Gradients g(kCounts, 100 * static_cast<std::uint32_t>(batch));
      const std::vector<float> values = g.all();
      if (batch == 0) {
        exact.assign(values.size(), 0);
        sums.assign(values.size(), NAN);  // the first must not read them
      }
      for (std::size_t i = 0; i < values.size(); ++i) exact[i] += double{values[i]} / kBatches;
      run(AddUpGradients{g.tensors, sums.data(), batch == 0, batch + 1 == kBatches, 0.25F});
      if (batch + 1 < kBatches)
        CHECK(g.all() == values);
      else
        last = std::move(g);
    }
    const std::vector<float> got = last.all();
    const std::vector<float> expected = last.rounded({exact.begin(), exact.end()});
    CHECK(test::largest_difference(got, expected) <
          8e-3);  // an error of FP32 may round the other way in BF16
    std::size_t at = 0;
    for (const GradientTensor& tensor : last.tensors)
      for (std::int64_t i = 0; i < tensor.count; ++i, ++at)
        if (tensor.format == NumberFormat::kFloat32)
          CHECK(got[at] == doctest::Approx(exact[at]).epsilon(1e-6));
  }
  set_max_threads(1);
}

TEST_CASE("a single micro batch is only scaled") {
  Gradients g({5, 6, 7});
  const std::vector<float> before = g.all();
  run(AddUpGradients{g.tensors, nullptr, true, true, 0.5F});
  std::vector<float> half = before;
  for (float& value : half) value *= 0.5F;
  CHECK(g.all() == half);
}

TEST_CASE("vectors add up") {
  const std::vector<float> from = random_floats(70'001, 1), before = random_floats(70'001, 2);
  std::vector<float> to = before;
  run(AddVector{70'001, from.data(), to.data()});
  for (std::size_t i = 0; i < to.size(); ++i) REQUIRE(to[i] == before[i] + from[i]);
}

TEST_CASE("any op of a stream runs by its variant, and empty ones do nothing") {
  const std::vector<StreamOp> ops = {
      PackGradients{},  UnpackGradients{},  AddUpGradients{}, AddVector{},        CompressHalf{},
      DecompressHalf{}, CompressInt8{},     DecompressInt8{}, CompressTop{},      DecompressTop{},
      PowerFirst{},     PowerSecond{},      PowerRestore{},   ShiftImages{},      ResizePictures{},
      ColourPictures{}, DecodeJpegBlocks{}, CompressOneBit{}, DecompressOneBit{}, ClipGradients{}};
  CHECK(ops.size() == std::variant_size_v<StreamOp>);
  for (const StreamOp& op : ops) {
    std::visit([](const auto& each) { kernels::run(each); }, op);
    run(op);
    CHECK(work_of(op) == Work{});
  }
  float from = 2, to = 3;
  run(StreamOp{AddVector{1, &from, &to}});
  CHECK(to == 5);
}

TEST_CASE("work counts the bytes of each format, without looking at memory") {
  const std::vector<GradientTensor> tensors = {{nullptr, 10, 1, NumberFormat::kFloat32},
                                               {nullptr, 6, 1, NumberFormat::kBfloat16}};
  CHECK(work_of(PackGradients{tensors}) == Work{0, 4 * 10 + 2 * 6 + 4 * 16});
  CHECK(work_of(UnpackGradients{tensors}) == Work{16, 4 * 10 + 2 * 6 + 4 * 16});
  CHECK(work_of(AddUpGradients{tensors, nullptr, true, false}) == Work{16, 52 + 4 * 16});
  CHECK(work_of(AddUpGradients{tensors, nullptr, false, true}) == Work{16, 52 + 8 * 16});
  CHECK(work_of(CompressInt8{1025}) == Work{5 * 1025, 17 * 1025});
  CHECK(work_of(DecompressInt8{1025, 3}) == Work{2 * 1025 * 3, 3 * (1025 + 8) + 4 * 1025});
  CHECK(work_of(CompressOneBit{1025}) == Work{6 * 1025, 12 * 1025 + 2 * (128 + 8)});
  CHECK(work_of(DecompressOneBit{1025, 2048, 3}) ==
        Work{2 * 1025 * 3, 3 * 2 * (128 + 8) + 4 * 1025});
  CHECK(work_of(ClipGradients{1025}) == Work{3 * 1025, 12 * 1025 + 16 * 2});
}

TEST_CASE("padding stays zero, and values of 16 bits are rounded where they are kept in FP32") {
  std::vector<float> values = {9, 9, 9, 9};
  const std::vector<float> mask = {1, 0, 1, 0}, flat = {1.001F, 2, -3.001F, 4};
  const GradientTensor tensors[] = {{values.data(), 4, 1, NumberFormat::kFloat32, mask.data()}};
  run(UnpackGradients{tensors, flat.data(), 2});
  CHECK(values == std::vector<float>{2 * 1.001F, 0, 2 * -3.001F, 0});
  run(UnpackGradients{tensors, flat.data(), 1, NumberFormat::kBfloat16});
  CHECK(values == std::vector<float>{1, 0, -3, 0});
}

}  // namespace headway::kernels
