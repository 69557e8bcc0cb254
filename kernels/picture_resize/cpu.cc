// SPDX-License-Identifier: MIT
#include "kernels/picture_resize/op.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

/// The source pixels of one pixel of the result, along one axis.
struct Taps {
  int first = 0;
  int last = 0;
  std::size_t weights = 0;  ///< index of its first weight among those of the axis
  float sum = 0;
};

struct Axis {
  std::vector<Taps> taps;  ///< [count]
  std::vector<float> weights;
  int most = 0;  ///< largest number of source pixels of one pixel
};

/// Maps [begin, begin + extent) of `size` source pixels to `count` pixels.
Axis axis_of(int size, float begin, float extent, int count) {
  const float scale = extent / static_cast<float>(count);
  const float reach = std::max(1.0F, scale);
  Axis axis;
  axis.taps.reserve(static_cast<std::size_t>(count));
  axis.weights.reserve(static_cast<std::size_t>(count) * (static_cast<std::size_t>(2 * reach) + 2));
  for (int i = 0; i < count; ++i) {
    const float centre = begin + (static_cast<float>(i) + 0.5F) * scale - 0.5F;
    Taps taps;
    taps.first = std::clamp(static_cast<int>(std::floor(centre - reach)) + 1, 0, size - 1);
    taps.last = std::clamp(static_cast<int>(std::ceil(centre + reach)) - 1, taps.first, size - 1);
    taps.weights = axis.weights.size();
    for (int at = taps.first; at <= taps.last; ++at) {
      const float distance = std::abs(static_cast<float>(at) - centre);
      const float weight = std::max(1e-6F, 1 - distance / reach);
      axis.weights.push_back(weight);
      taps.sum += weight;
    }
    axis.most = std::max(axis.most, taps.last - taps.first + 1);
    axis.taps.push_back(taps);
  }
  return axis;
}

/// Sums over the columns of one source row: [count of the axis][3].
void narrow_row(const std::uint8_t* row, const Axis& columns, float* to) {
  for (const Taps& taps : columns.taps) {
    const std::uint8_t* pixel = row + std::ptrdiff_t{3} * taps.first;
    const float* const end = &columns.weights[taps.weights] + (taps.last - taps.first + 1);
    float red = 0, green = 0, blue = 0;
    for (const float* weight = &columns.weights[taps.weights]; weight != end; ++weight) {
      red += *weight * static_cast<float>(pixel[0]);
      green += *weight * static_cast<float>(pixel[1]);
      blue += *weight * static_cast<float>(pixel[2]);
      pixel += 3;
    }
    to[0] = red, to[1] = green, to[2] = blue;
    to += 3;
  }
}

}  // namespace

void resize_part(const std::uint8_t* from, const PicturePart& part, int height, int width,
                 std::uint8_t* to) {
  const Axis columns = axis_of(part.width, part.left, part.columns, width);
  const Axis rows = axis_of(part.height, part.top, part.rows, height);
  const auto values = static_cast<std::size_t>(width) * 3;
  // The narrowed rows that one row of the result needs stay in the cache; each is computed once.
  const auto kept = static_cast<std::size_t>(rows.most);
  std::vector<float> narrow(kept * values);
  auto narrow_of = [&](int row) { return &narrow[static_cast<std::size_t>(row) % kept * values]; };
  std::vector<float> sums(values);
  int next = rows.taps.front().first;
  const std::uint8_t* const picture = from + part.offset;
  for (int y = 0; y < height; ++y) {
    const Taps& taps = rows.taps[static_cast<std::size_t>(y)];
    for (; next <= taps.last; ++next)
      narrow_row(picture + std::ptrdiff_t{3} * next * part.width, columns, narrow_of(next));
    std::ranges::fill(sums, 0.0F);
    for (int row = taps.first; row <= taps.last; ++row) {
      const float weight = rows.weights[taps.weights + static_cast<std::size_t>(row - taps.first)];
      const float* const narrow_row = narrow_of(row);
      for (std::size_t i = 0; i < values; ++i) sums[i] += weight * narrow_row[i];
    }
    std::uint8_t* const result = to + static_cast<std::size_t>(y) * values;
    for (std::size_t x = 0; x < columns.taps.size(); ++x) {
      const float weights = taps.sum * columns.taps[x].sum;
      for (std::size_t i = 3 * x; i < 3 * x + 3; ++i)
        result[i] = static_cast<std::uint8_t>(std::clamp(sums[i] / weights + 0.5F, 0.0F, 255.0F));
    }
  }
  if (part.mirrored) mirror_picture({to, static_cast<std::size_t>(height) * values}, width);
}

void mirror_picture(std::span<std::uint8_t> rgb, int width) {
  const auto row_bytes = static_cast<std::size_t>(width) * 3;
  for (std::size_t row = 0; row < rgb.size(); row += row_bytes)
    for (std::size_t left = 0, right = row_bytes - 3; left < right; left += 3, right -= 3)
      std::swap_ranges(&rgb[row + left], &rgb[row + left] + 3, &rgb[row + right]);
}

void run(const ResizePictures& op) {
  const std::int64_t values = std::int64_t{3} * op.height * op.width;
  parallel_for(op.images, 1, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      resize_part(op.from, op.parts[i], op.height, op.width, op.to + i * values);
  });
}

}  // namespace headway::kernels
