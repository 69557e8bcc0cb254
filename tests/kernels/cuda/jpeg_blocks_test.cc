// SPDX-License-Identifier: MIT
// Pixels are those of the processor's kernel to the bit, which tests/reference_trainer/jpeg_test.cc holds against libjpeg.
#include <doctest/doctest.h>

#include "kernels/stream_op/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/jpeg_batch.h"

namespace headway::test {
namespace {

void check_same(const JpegBatch& batch, std::int64_t spare_blocks,
                const kernels::cuda::Limits& limits) {
  const Plain<std::int16_t> coefficients(batch.coefficients);
  const Plain<kernels::JpegPicture> pictures(batch.pictures);
  const Plain<std::uint8_t> samples(std::vector<std::uint8_t>(batch.coefficients.size()));
  const Plain<std::uint8_t> to(std::vector<std::uint8_t>(static_cast<std::size_t>(batch.values)));
  kernels::DecodeJpegBlocks op =
      batch.op(coefficients.get(), pictures.get(), samples.get(), to.get());
  op.blocks += spare_blocks;
  gpu().run(kernels::cuda::launches(limits, kernels::StreamOp{op}));
  CHECK(to.read() == batch.decoded());
}

}  // namespace

TEST_CASE("pictures of many sizes and samplings in one batch are those of the processor") {
  const JpegBatch batch = random_jpeg_batch(jpeg_kinds());
  for (std::int64_t spare : {0, 1, 5000})
    for (int multiprocessors : {0, 132}) {
      CAPTURE(spare);
      CAPTURE(multiprocessors);
      check_same(batch, spare, {multiprocessors, kernels::cuda::kLargeParameters});
    }
}

TEST_CASE("a picture alone, whatever its number of blocks is to a warp") {
  for (const JpegKind& kind : jpeg_kinds()) {
    CAPTURE(kind.height);
    CAPTURE(kind.width);
    check_same(random_jpeg_batch({kind}), 0, gpu().limits());
  }
}

TEST_CASE("extreme coefficients are cut off as on the processor") {
  check_same(extreme_jpeg_batch(jpeg_kinds()), 0, gpu().limits());
}

TEST_CASE("planes and pictures may lie apart from each other") {
  JpegBatch batch = random_jpeg_batch({{17, 12, 3, 2, 2}, {9, 30, 1}, {16, 16, 3, 1, 2}});
  std::vector<std::int16_t> apart;
  for (kernels::JpegPicture& picture : batch.pictures) {
    picture.to += 5 + 2 * picture.first_block;
    for (int p = 0; p < picture.planes; ++p) {
      kernels::JpegPlane& plane = picture.plane[p];
      apart.resize(apart.size() + 64 * static_cast<std::size_t>(1 + p), 99);
      const auto* from = &batch.coefficients[static_cast<std::size_t>(plane.offset)];
      plane.offset = static_cast<std::int64_t>(apart.size());
      apart.insert(apart.end(), from, from + 64 * plane.blocks_high * plane.blocks_wide);
    }
  }
  batch.values += 1000;
  batch.coefficients = apart;
  check_same(batch, 0, gpu().limits());
}

}  // namespace headway::test
