// SPDX-License-Identifier: MIT
#include "reference_trainer/data/transforms.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headway::trainer {
namespace {

/// The source pixels that one pixel of the result is made of, along one axis.
struct Taps {
  int first = 0;
  std::vector<float> weights;  ///< sum 1
};

/// [begin, begin + extent) of `size` source pixels to `count` pixels.
std::vector<Taps> taps_of(int size, double begin, double extent, int count) {
  const double scale = extent / count;
  const double reach = std::max(1.0, scale);
  std::vector<Taps> taps(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    Taps& tap = taps[static_cast<std::size_t>(i)];
    const double centre = begin + (i + 0.5) * scale - 0.5;
    tap.first = std::clamp(static_cast<int>(std::ceil(centre - reach)), 0, size - 1);
    const int last = std::clamp(static_cast<int>(std::floor(centre + reach)), tap.first, size - 1);
    float sum = 0;
    for (int at = tap.first; at <= last; ++at) {
      const auto weight = static_cast<float>(std::max(1e-6, 1 - std::abs(at - centre) / reach));
      tap.weights.push_back(weight);
      sum += weight;
    }
    for (float& weight : tap.weights) weight /= sum;
  }
  return taps;
}

/// Parts of the image, in source pixels.
struct Pixels {
  double begin;
  double extent;
};
Pixels pixels_of(float begin, float end, int size) {
  const double first = std::clamp<double>(begin, 0, 1) * size;
  return {first, std::max(1.0, std::clamp<double>(end, 0, 1) * size - first)};
}

float luma(const float* pixel) {
  return 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
}

Box random_part(float least_area, Random& random) {
  for (int i = 0; i < 10; ++i) {
    const double area = least_area + (1 - least_area) * random.uniform();
    const double aspect = std::exp(std::log(4.0 / 3) * (2 * random.uniform() - 1));
    const double width = std::sqrt(area * aspect);
    const double height = std::sqrt(area / aspect);
    if (width > 1 || height > 1) continue;
    const double left = random.uniform() * (1 - width);
    const double top = random.uniform() * (1 - height);
    return {static_cast<float>(left), static_cast<float>(top), static_cast<float>(left + width),
            static_cast<float>(top + height), 0};
  }
  return {0, 0, 1, 1, 0};
}

}  // namespace

void resize(std::span<const std::uint8_t> from, int from_height, int from_width, const Box& part,
            int height, int width, std::span<std::uint8_t> to) {
  const Pixels x = pixels_of(part.left, part.right, from_width);
  const Pixels y = pixels_of(part.top, part.bottom, from_height);
  const std::vector<Taps> columns = taps_of(from_width, x.begin, x.extent, width);
  const std::vector<Taps> rows = taps_of(from_height, y.begin, y.extent, height);
  const int first_row = rows.front().first;
  const int end_row = rows.back().first + static_cast<int>(rows.back().weights.size());
  const auto stride = static_cast<std::size_t>(width) * 3;
  std::vector<float> narrow(static_cast<std::size_t>(end_row - first_row) * stride);
  for (int row = first_row; row < end_row; ++row) {
    const std::uint8_t* source = from.data() + static_cast<std::size_t>(row) * from_width * 3;
    float* target = narrow.data() + static_cast<std::size_t>(row - first_row) * stride;
    for (const Taps& tap : columns) {
      float sum[3] = {};
      const std::uint8_t* pixel = source + static_cast<std::size_t>(tap.first) * 3;
      for (float weight : tap.weights)
        for (int c = 0; c < 3; ++c) sum[c] += weight * static_cast<float>(*pixel++);
      for (float value : sum) *target++ = value;
    }
  }
  std::vector<float> sum(stride);
  std::uint8_t* target = to.data();
  for (const Taps& tap : rows) {
    std::ranges::fill(sum, 0.0F);
    const float* source = narrow.data() + static_cast<std::size_t>(tap.first - first_row) * stride;
    for (float weight : tap.weights)
      for (std::size_t i = 0; i < stride; ++i) sum[i] += weight * *source++;
    for (float value : sum)
      *target++ = static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
  }
}

Box centred_part(int from_height, int from_width, int height, int width) {
  const double wanted = static_cast<double>(width) / height;
  const double has = static_cast<double>(from_width) / from_height;
  const auto x = static_cast<float>(has > wanted ? wanted / has : 1);
  const auto y = static_cast<float>(has > wanted ? 1 : has / wanted);
  return {(1 - x) / 2, (1 - y) / 2, (1 + x) / 2, (1 + y) / 2, 0};
}

void mirror(std::span<std::uint8_t> rgb, int width) {
  const auto row_bytes = static_cast<std::size_t>(width) * 3;
  for (std::size_t row = 0; row < rgb.size(); row += row_bytes)
    for (std::size_t left = 0, right = row_bytes - 3; left < right; left += 3, right -= 3)
      std::swap_ranges(&rgb[row + left], &rgb[row + left] + 3, &rgb[row + right]);
}

void jitter_colours(std::span<float> rgb, float most, Random& random) {
  auto factor = [&] { return 1 + most * (2 * static_cast<float>(random.uniform()) - 1); };
  const float brightness = factor();
  const float contrast = factor();
  const float saturation = factor();
  float mean = 0;
  for (std::size_t i = 0; i < rgb.size(); i += 3) mean += luma(&rgb[i]);
  mean *= 3 * brightness / static_cast<float>(rgb.size());
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    float* pixel = &rgb[i];
    for (int c = 0; c < 3; ++c) pixel[c] = mean + contrast * (pixel[c] * brightness - mean);
    const float grey = luma(pixel);
    for (int c = 0; c < 3; ++c)
      pixel[c] = std::clamp(grey + saturation * (pixel[c] - grey), 0.0F, 255.0F);
  }
}

void normalise(const PictureAugmentation& how, std::span<float> rgb) {
  for (std::size_t i = 0; i < rgb.size(); ++i)
    rgb[i] = (rgb[i] / 255 - how.mean[i % 3]) / how.deviation[i % 3];
}

void augment_picture(const PictureAugmentation& how, Random& random,
                     std::span<const std::uint8_t> canvas, int canvas_height, int canvas_width,
                     int height, int width, std::span<float> out) {
  // Without chance, the middle 7/8: what a random crop shows on average.
  const Box part =
      how.random ? random_part(how.least_area, random) : Box{0.0625F, 0.0625F, 0.9375F, 0.9375F, 0};
  std::vector<std::uint8_t> pixels(out.size());
  resize(canvas, canvas_height, canvas_width, part, height, width, pixels);
  if (how.random && random.below(2) == 1) mirror(pixels, width);
  std::ranges::copy(pixels, out.begin());
  if (how.random) jitter_colours(out, how.jitter, random);
  normalise(how, out);
}

}  // namespace headway::trainer
