// SPDX-License-Identifier: MIT
#pragma once

#include <random>
#include <vector>

#include "kernels/jpeg_blocks/op.h"

namespace headway::test {

struct JpegKind {
  int height = 1;
  int width = 1;
  int planes = 3;
  int rows_per_sample = 1;  ///< of chroma
  int columns_per_sample = 1;
};

/// Pictures with what DecodeJpegBlocks needs, one after the other.
struct JpegBatch {
  std::vector<kernels::JpegPicture> pictures;
  std::vector<std::int16_t> coefficients;
  std::int64_t values = 0;  ///< of all pictures

  std::int64_t blocks() const { return static_cast<std::int64_t>(coefficients.size() / 64); }
  /// With the arrays of a device, in place of these.
  kernels::DecodeJpegBlocks op(const std::int16_t* from, const kernels::JpegPicture* list,
                               std::uint8_t* samples, std::uint8_t* to) const {
    return {static_cast<std::int64_t>(pictures.size()), blocks(), from, list, samples, to};
  }
  /// The pixels that the processor makes.
  std::vector<std::uint8_t> decoded() const {
    std::vector<std::uint8_t> samples(coefficients.size()), to(static_cast<std::size_t>(values));
    run(op(coefficients.data(), pictures.data(), samples.data(), to.data()));
    return to;
  }
};

/// coefficient(random, k) gives the one at place k of a block, steps(random, k) its step.
template <class Coefficient, class Step>
JpegBatch make_jpeg_batch(const std::vector<JpegKind>& kinds, const Coefficient& coefficient,
                          const Step& step) {
  std::mt19937 random(7);
  JpegBatch batch;
  for (const JpegKind& kind : kinds) {
    kernels::JpegPicture picture;
    picture.height = kind.height, picture.width = kind.width, picture.planes = kind.planes;
    picture.first_block = batch.blocks(), picture.to = batch.values;
    for (int p = 0; p < kind.planes; ++p) {
      kernels::JpegPlane& plane = picture.plane[p];
      if (p > 0) {
        plane.rows_per_sample = kind.rows_per_sample;
        plane.columns_per_sample = kind.columns_per_sample;
      }
      const int tall = 8 * plane.rows_per_sample, wide = 8 * plane.columns_per_sample;
      plane.blocks_high = (kind.height + tall - 1) / tall;
      plane.blocks_wide = (kind.width + wide - 1) / wide;
      plane.offset = static_cast<std::int64_t>(batch.coefficients.size());
      for (int k = 0; k < 64; ++k) plane.steps[k] = static_cast<std::uint16_t>(step(random, k));
      for (int block = 0; block < plane.blocks_high * plane.blocks_wide; ++block)
        for (int k = 0; k < 64; ++k)
          batch.coefficients.push_back(static_cast<std::int16_t>(coefficient(random, k)));
    }
    batch.values += std::int64_t{3} * kind.height * kind.width;
    batch.pictures.push_back(picture);
  }
  return batch;
}

/// As a photograph's: large at low frequencies, with zeros at high ones; some beyond black and white.
inline JpegBatch random_jpeg_batch(const std::vector<JpegKind>& kinds) {
  return make_jpeg_batch(
      kinds,
      [](std::mt19937& random, int k) {
        const int most = k == 0 ? 60 : 24 / (1 + k / 8 + k % 8);
        return std::uniform_int_distribution(-most, most)(random);
      },
      [](std::mt19937& random, int k) { return std::uniform_int_distribution(1, 10 + k)(random); });
}

/// Coefficients and steps up to their types' limits.
inline JpegBatch extreme_jpeg_batch(const std::vector<JpegKind>& kinds) {
  return make_jpeg_batch(
      kinds,
      [](std::mt19937& random, int) {
        constexpr int kValues[] = {-32768, -32767, 32767, 0, 1, -1};
        return kValues[random() % 6];
      },
      [](std::mt19937& random, int) {
        constexpr int kSteps[] = {1, 255, 32768, 65535};
        return kSteps[random() % 4];
      });
}

/// All that is taken, at sizes that are no multiples of blocks, and the smallest.
inline std::vector<JpegKind> jpeg_kinds() {
  std::vector<JpegKind> kinds;
  for (const auto& [height, width] :
       {std::pair{1, 1}, {1, 40}, {19, 2}, {5, 4}, {9, 5}, {8, 8}, {16, 16}, {33, 71}}) {
    kinds.push_back({height, width, 1});
    for (int rows : {1, 2})
      for (int columns : {1, 2}) kinds.push_back({height, width, 3, rows, columns});
  }
  return kinds;
}

}  // namespace headway::test
