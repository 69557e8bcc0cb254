// SPDX-License-Identifier: MIT
// tests/reference_trainer/jpeg_test.cc holds the same kernel against libjpeg.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/parallel.h"
#include "tests/kernels/jpeg_batch.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::JpegBatch;
using test::JpegKind;

/// Sample (y, x) of a plane by the formula of ISO/IEC 10918-1, A.3.3.
double sample(const JpegBatch& batch, const JpegPlane& plane, int y, int x) {
  const std::int64_t block = std::int64_t{y / 8} * plane.blocks_wide + x / 8;
  double sum = 0;
  for (int v = 0; v < 8; ++v)
    for (int u = 0; u < 8; ++u) {
      const int k = 8 * v + u;
      const double value =
          double{1} * batch.coefficients[static_cast<std::size_t>(plane.offset + 64 * block + k)] *
          plane.steps[k];
      auto wave = [](int at, int frequency) {
        return (frequency == 0 ? std::numbers::sqrt2 / 2 : 1) *
               std::cos((2 * at + 1) * frequency * std::numbers::pi / 16);
      };
      sum += value / 4 * wave(y % 8, v) * wave(x % 8, u);
    }
  return std::clamp(sum + 128, 0.0, 255.0);
}

/// A coordinate of a pixel among the samples, whose middles lie between the pixels that share them.
double place_among(int pixel, int per_sample, int samples) {
  return std::clamp((pixel + 0.5) / per_sample - 0.5, 0.0, samples - 1.0);
}

double interpolated(const JpegBatch& batch, const JpegPicture& picture, const JpegPlane& plane,
                    int y, int x) {
  const int rows = (picture.height + plane.rows_per_sample - 1) / plane.rows_per_sample;
  const int columns = (picture.width + plane.columns_per_sample - 1) / plane.columns_per_sample;
  if (plane.columns_per_sample == 2 && columns <= 2)
    return sample(batch, plane, y / plane.rows_per_sample, x / 2);
  const double down = place_among(y, plane.rows_per_sample, rows);
  const double right = place_among(x, plane.columns_per_sample, columns);
  double sum = 0;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const double share =
          std::max(0.0, 1 - std::abs(down - row)) * std::max(0.0, 1 - std::abs(right - column));
      if (share > 0) sum += share * sample(batch, plane, row, column);
    }
  return sum;
}

/// ITU-T T.871.
void to_colours(double y, double cb, double cr, double (&rgb)[3]) {
  rgb[0] = y + 1.402 * (cr - 128);
  rgb[1] = y - 0.114 * 1.772 / 0.587 * (cb - 128) - 0.299 * 1.402 / 0.587 * (cr - 128);
  rgb[2] = y + 1.772 * (cb - 128);
  for (double& value : rgb) value = std::clamp(value, 0.0, 255.0);
}

}  // namespace

TEST_CASE("grey pictures are the inverse DCT in double precision, to one step at most") {
  const JpegBatch batch = test::random_jpeg_batch({{40, 61, 1}, {7, 9, 1}, {64, 64, 1}});
  const std::vector<std::uint8_t> got = batch.decoded();
  double worst = 0, sum = 0, signed_sum = 0;
  int black = 0, white = 0;
  for (const JpegPicture& picture : batch.pictures)
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) {
        const auto* at = &got[static_cast<std::size_t>(picture.to + 3L * (y * picture.width + x))];
        REQUIRE(at[0] == at[1]);
        REQUIRE(at[0] == at[2]);
        const double wanted = sample(batch, picture.plane[0], y, x);
        worst = std::max(worst, std::abs(at[0] - std::round(wanted)));
        sum += std::abs(at[0] - wanted), signed_sum += at[0] - wanted;
        black += at[0] == 0, white += at[0] == 255;
      }
  const double count = static_cast<double>(batch.values) / 3;
  MESSAGE("mean distance ", sum / count, ", bias ", signed_sum / count);
  CHECK(worst <= 1);
  CHECK(sum / count < 0.26);  // that of rounding alone is 1/4
  CHECK(std::abs(signed_sum / count) < 0.02);
  CHECK(black > 10);
  CHECK(white > 10);
}

TEST_CASE("colours are interpolated and converted as in double precision, whatever the sampling") {
  const JpegBatch batch = test::random_jpeg_batch(test::jpeg_kinds());
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    const std::vector<std::uint8_t> got = batch.decoded();
    double all = 0;
    for (const JpegPicture& picture : batch.pictures) {
      if (picture.planes == 1) continue;
      CAPTURE(picture.height);
      CAPTURE(picture.width);
      CAPTURE(picture.plane[1].rows_per_sample);
      CAPTURE(picture.plane[1].columns_per_sample);
      double worst = 0;
      for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x) {
          double of[3], rgb[3];
          for (int p = 0; p < 3; ++p) of[p] = interpolated(batch, picture, picture.plane[p], y, x);
          to_colours(of[0], of[1], of[2], rgb);
          for (int c = 0; c < 3; ++c) {
            const auto i = static_cast<std::size_t>(picture.to + 3L * (y * picture.width + x) + c);
            worst = std::max(worst, std::abs(got[i] - rgb[c]));
            all += std::abs(got[i] - rgb[c]);
          }
        }
      // Half a step of luma, up to one and a bit of chroma times 1.772, half a step of the result.
      CHECK(worst < 3.5);
    }
    CHECK(all / static_cast<double>(batch.values) < 0.6);
  }
  set_max_threads(1);
}

TEST_CASE("every row of pixels is made, wherever the threads' pieces meet") {
  // 43 rows of 13 blocks: two pieces meet within a row.
  const JpegBatch batch = test::random_jpeg_batch({{340, 100, 1}});
  const std::vector<std::uint8_t> wanted = batch.decoded();
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    CHECK(batch.decoded() == wanted);
  }
  set_max_threads(1);
}

TEST_CASE("values that no encoder makes are cut off, to black, to white, to 16 bits") {
  for (int value : {-32768, 32767}) {
    JpegBatch batch = test::make_jpeg_batch(
        {{9, 10, 1}, {9, 10, 3, 2, 2}}, [&](auto&, int k) { return k == 0 ? value : 0; },
        [](auto&, int) { return 65535; });
    const std::vector<std::uint8_t> got = batch.decoded();
    for (std::size_t i = 0; i < 270; ++i) REQUIRE(got[i] == (value < 0 ? 0 : 255));
  }
  // Sums of largest values, which would not fit into 32 bits if anything between had more than 16.
  const JpegBatch batch = test::extreme_jpeg_batch(test::jpeg_kinds());
  const std::vector<std::uint8_t> got = batch.decoded();
  CHECK(std::ranges::count(got, 0) > 1000);
  CHECK(std::ranges::count(got, 255) > 1000);
  const JpegBatch row = test::make_jpeg_batch(
      {{8, 8, 1}}, [](auto&, int) { return 32767; }, [](auto&, int) { return 65535; });
  CHECK(row.decoded()[0] == 255);  // all waves have a crest here
}

}  // namespace headway::kernels
