// SPDX-License-Identifier: MIT
// Images on their way in, against double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/image_shift/op.h"
#include "kernels/parallel.h"
#include "kernels/picture_colours/op.h"
#include "kernels/picture_resize/op.h"
#include "tests/kernels/picture_batch.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::random_bytes;
using Pixels = std::vector<std::uint8_t>;

std::size_t values_of(int height, int width) {
  return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * 3;
}
PicturePart whole(int height, int width) {
  return {0, height, width, 0, 0, static_cast<float>(height), static_cast<float>(width), 0};
}
Pixels resized(const Pixels& from, const PicturePart& part, int height, int width) {
  Pixels to(values_of(height, width));
  run(ResizePictures{1, height, width, 0, from.data(), &part, to.data()});
  return to;
}

/// Weights of all pixels of a row or column of the picture in pixel i of the result; their sum is 1.
std::vector<double> triangle(int size, double begin, double extent, int count, int i) {
  const double scale = extent / count, reach = std::max(1.0, scale);
  const double centre = begin + (i + 0.5) * scale - 0.5;
  std::vector<double> weights(static_cast<std::size_t>(size));
  for (int at = 0; at < size; ++at)
    weights[static_cast<std::size_t>(at)] = std::max(0.0, 1 - std::abs(at - centre) / reach);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

void check_resized(const Pixels& from, const PicturePart& part, int height, int width,
                   const std::uint8_t* got) {
  for (int y = 0; y < height; ++y) {
    const std::vector<double> rows = triangle(part.height, part.top, part.rows, height, y);
    for (int x = 0; x < width; ++x) {
      const std::vector<double> columns =
          triangle(part.width, part.left, part.columns, width, part.mirrored ? width - 1 - x : x);
      double sums[3] = {};
      const std::uint8_t* value = from.data() + part.offset;
      for (double row : rows)
        for (double column : columns)
          for (double& sum : sums) sum += row * column * *value++;
      // To the nearest integer. The rest is FP32: positions have about 1e-4 of a pixel.
      for (double sum : sums) REQUIRE(std::abs(*got++ - sum) <= 0.53);
    }
  }
}

}  // namespace

TEST_CASE("a resized picture is what a triangle filter makes of its part") {
  test::PictureBatch batch;
  auto add = [&](int height, int width, float top, float left, float rows, float columns) {
    for (int mirrored : {0, 1}) batch.add(height, width, top, left, rows, columns, mirrored);
  };
  add(31, 17, 0, 0, 31, 17);
  add(64, 96, 10.25F, 3.5F, 41.5F, 66.125F);
  add(40, 50, 39, 49, 1, 1);
  add(40, 50, 0, 0, 1.5F, 50);
  add(7, 200, 0.3F, 120.7F, 6.7F, 79.3F);
  add(300, 3, 0, 0, 300, 3);
  add(1, 1, 0, 0, 1, 1);
  const auto& [from, parts] = batch;
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (auto [height, width] : {std::pair{1, 1}, {5, 7}, {24, 33}, {70, 20}}) {
      Pixels to(parts.size() * values_of(height, width));
      run(ResizePictures{static_cast<std::int64_t>(parts.size()), height, width, 0, from.data(),
                         parts.data(), to.data()});
      for (std::size_t i = 0; i < parts.size(); ++i) {
        CAPTURE(i);
        check_resized(from, parts[i], height, width, &to[i * values_of(height, width)]);
      }
    }
  }
  set_max_threads(1);
}

TEST_CASE("a picture resized to its own size stays as it is, and mirrored twice, too") {
  for (auto [height, width] : {std::pair{1, 1}, {3, 8}, {20, 13}, {375, 500}}) {
    const Pixels from = random_bytes(std::int64_t{3} * height * width, 1);
    PicturePart part = whole(height, width);
    CHECK(resized(from, part, height, width) == from);
    part.mirrored = 1;
    const Pixels once = resized(from, part, height, width);
    CHECK((width == 1 || once != from));
    CHECK(resized(once, part, height, width) == from);
    Pixels in_place = from;
    mirror_picture(in_place, width);
    CHECK(in_place == once);
  }
}

TEST_CASE("shrinking keeps the mean, and a colour stays that colour at any size") {
  const Pixels from = random_bytes(std::int64_t{3} * 240 * 360, 1);
  auto mean = [](const Pixels& pixels) {
    return std::accumulate(pixels.begin(), pixels.end(), 0.0) / static_cast<double>(pixels.size());
  };
  for (auto [height, width] : {std::pair{120, 90}, {16, 24}, {7, 5}})
    CHECK(mean(resized(from, whole(240, 360), height, width)) ==
          doctest::Approx(mean(from)).epsilon(0.01));
  Pixels one;
  for (int i = 0; i < 33 * 21; ++i) one.insert(one.end(), {0, 255, 93});
  for (auto [height, width] : {std::pair{100, 80}, {11, 2}}) {
    const Pixels to = resized(one, {0, 33, 21, 2.7F, 0.1F, 20.3F, 20.9F, 0}, height, width);
    for (std::size_t i = 0; i < to.size(); ++i) REQUIRE(to[i] == one[i % 3]);
  }
}

namespace {

constexpr std::array<float, 3> kMean = {0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> kDeviation = {0.229F, 0.224F, 0.225F};

/// What the op says, in double precision, of one picture.
std::vector<double> coloured(const Pixels& from, const ColourChange* change) {
  auto luma = [](const double* rgb) { return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]; };
  std::vector<double> x(from.begin(), from.end());
  if (change) {
    for (double& value : x) value *= double{change->brightness};
    double mean = 0;
    for (std::size_t i = 0; i < x.size(); i += 3) mean += luma(&x[i]);
    mean /= static_cast<double>(x.size()) / 3;
    for (double& value : x) value = mean + double{change->contrast} * (value - mean);
    for (std::size_t i = 0; i < x.size(); i += 3) {
      const double grey = luma(&x[i]);
      for (std::size_t c = 0; c < 3; ++c)
        x[i + c] = std::clamp(grey + double{change->saturation} * (x[i + c] - grey), 0.0, 255.0);
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = (x[i] / 255 - double{kMean[i % 3]}) / double{kDeviation[i % 3]};
  return x;
}

std::vector<float> run_colours(const Pixels& from, std::int64_t images, int height, int width,
                               const ColourChange* changes) {
  std::vector<float> to(from.size(), NAN);
  run(ColourPictures{images, height, width, kMean, kDeviation, from.data(), changes, to.data()});
  return to;
}

}  // namespace

TEST_CASE("colours change as double precision says, picture by picture") {
  const std::vector<ColourChange> changes = {{1, 1, 1},      {0.7F, 1.3F, 0.9F}, {1.2F, 0.8F, 1.3F},
                                             {0, 1, 1},      {2, 2, 2},          {1, 0, 1},
                                             {1.1F, 1.1F, 0}};
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (auto [height, width] : {std::pair{1, 1}, {3, 5}, {40, 31}}) {
      const std::size_t values = values_of(height, width);
      const Pixels from = random_bytes(static_cast<std::int64_t>(changes.size() * values), 1);
      for (bool changed : {false, true}) {
        const auto got = run_colours(from, static_cast<std::int64_t>(changes.size()), height, width,
                                     changed ? changes.data() : nullptr);
        for (std::size_t i = 0; i < changes.size(); ++i) {
          CAPTURE(i);
          const Pixels one(from.begin() + static_cast<std::ptrdiff_t>(i * values),
                           from.begin() + static_cast<std::ptrdiff_t>((i + 1) * values));
          const std::vector<double> expected = coloured(one, changed ? &changes[i] : nullptr);
          for (std::size_t k = 0; k < values; ++k)
            REQUIRE(got[i * values + k] == doctest::Approx(expected[k]).epsilon(1e-5).scale(1));
        }
      }
    }
  }
  set_max_threads(1);
}

TEST_CASE("black and white pictures keep black and white without brightness and contrast") {
  for (std::uint8_t shade : {0, 255}) {
    const Pixels from(values_of(9, 11), shade);
    const ColourChange change{1, 0.5F, 1.7F};
    const std::vector<float> got = run_colours(from, 1, 9, 11, &change);
    const std::vector<double> plain = coloured(from, nullptr);
    for (std::size_t i = 0; i < got.size(); ++i)
      REQUIRE(got[i] == doctest::Approx(plain[i]).epsilon(1e-5).scale(1));
  }
}

TEST_CASE("the two halves of a change, one after the other, are the op") {
  const Pixels from = random_bytes(static_cast<std::int64_t>(values_of(13, 17)), 1);
  const ColourChange change{0.9F, 1.2F, 0.6F};
  std::vector<float> halves(from.size());
  change_colours(change, from, halves);
  CHECK(*std::ranges::min_element(halves) >= 0);
  CHECK(*std::ranges::max_element(halves) <= 255);
  normalise_colours(kMean, kDeviation, halves);
  CHECK(halves == run_colours(from, 1, 13, 17, &change));
}

TEST_CASE("work counts pixels once, and twice where their mean is needed first") {
  ColourPictures colours{2, 3, 5, {}, {}, nullptr, nullptr, nullptr};
  CHECK(work_of(colours) == Work{3 * 90, 90 + 4 * 90});
  const ColourChange change;
  colours.changes = &change;
  CHECK(work_of(colours) == Work{12 * 90, 2 * 90 + 4 * 90});
  CHECK(work_of(ResizePictures{2, 3, 5, 1000}) == Work{4000 + 8 * 90, 1000 + 90});
  CHECK(work_of(ShiftImages{2, 3, 5}) == Work{2 * 30, 30 + 4 * 30});
}

TEST_CASE("shifted images show what lies there, and 0 beyond the edges, mirrored or not") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (auto [height, width] : {std::pair{1, 1}, {5, 7}, {28, 28}}) {
      std::vector<ImageShift> shifts;
      for (int down : {-30, -2, 0, 1, 5})
        for (int right : {-9, -2, 0, 1, 7, 40})
          for (int mirrored : {0, 1}) shifts.push_back({down, right, mirrored});
      const auto images = static_cast<std::int64_t>(shifts.size());
      const std::int64_t pixels = std::int64_t{height} * width;
      const Pixels from = random_bytes(images * pixels, 1);
      std::vector<float> to(from.size(), NAN);
      run(ShiftImages{images, height, width, 0.011F, -0.7F, from.data(), shifts.data(), to.data()});
      for (std::int64_t i = 0; i < images * pixels; ++i) {
        const ImageShift& shift = shifts[static_cast<std::size_t>(i / pixels)];
        const auto x = static_cast<int>(i % width);
        const int from_y = static_cast<int>(i % pixels / width) + shift.down;
        const int from_x = (shift.mirrored ? width - 1 - x : x) + shift.right;
        const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
        const std::int64_t at = i / pixels * pixels + from_y * width + from_x;
        const double pixel = inside ? from[static_cast<std::size_t>(at)] : 0;
        REQUIRE(to[static_cast<std::size_t>(i)] ==
                doctest::Approx(pixel * 0.011 - 0.7).epsilon(1e-6).scale(1));
      }
    }
  }
  set_max_threads(1);
}

}  // namespace headway::kernels
