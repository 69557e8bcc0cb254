// SPDX-License-Identifier: MIT
#include "kernels/max_pool/op.h"

#include <algorithm>
#include <limits>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

/// Calls tap(r·kernel + s, index of the input pixel) for the pixels of the window of (p, q).
template <class Tap>
void for_each_tap(const MaxPoolShape& s, std::int64_t image, std::int64_t p, std::int64_t q,
                  const Tap& tap) {
  for (int r = 0; r < s.kernel; ++r) {
    const std::int64_t row = p * s.stride + r - s.padding;
    if (row < 0 || row >= s.height) continue;
    for (int c = 0; c < s.kernel; ++c) {
      const std::int64_t column = q * s.stride + c - s.padding;
      if (column < 0 || column >= s.width) continue;
      tap(static_cast<std::uint8_t>(r * s.kernel + c), (image * s.height + row) * s.width + column);
    }
  }
}

template <class Body>
void for_each_image(const MaxPoolShape& s, const Body& body) {
  const std::int64_t each = s.height * s.width * s.channels;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kFlatGrain / std::max<std::int64_t>(1, each));
  parallel_for(s.images, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t image = begin; image < end; ++image)
      for (std::int64_t p = 0; p < s.out(s.height); ++p)
        for (std::int64_t q = 0; q < s.out(s.width); ++q)
          body(image, p, q, ((image * s.out(s.height) + p) * s.out(s.width) + q) * s.channels);
  });
}

}  // namespace

void max_pool_forward(const MaxPoolShape& s, const float* x, float* y, std::uint8_t* place) {
  for_each_image(s, [&](std::int64_t image, std::int64_t p, std::int64_t q, std::int64_t at) {
    float* const best = y + at;
    std::uint8_t* const where = place + at;
    std::fill_n(best, s.channels, -std::numeric_limits<float>::infinity());
    for_each_tap(s, image, p, q, [&](std::uint8_t tap, std::int64_t pixel) {
      const float* from = x + pixel * s.channels;
      for (std::int64_t c = 0; c < s.channels; ++c) {
        const bool better = from[c] > best[c];
        best[c] = better ? from[c] : best[c];
        where[c] = better ? tap : where[c];
      }
    });
  });
}

void max_pool_backward(const MaxPoolShape& s, const float* dy, const std::uint8_t* place,
                       float* dx) {
  parallel_for(s.inputs(), kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    std::fill(dx + begin, dx + end, 0.0F);
  });
  for_each_image(s, [&](std::int64_t image, std::int64_t p, std::int64_t q, std::int64_t at) {
    for_each_tap(s, image, p, q, [&](std::uint8_t tap, std::int64_t pixel) {
      float* const to = dx + pixel * s.channels;
      for (std::int64_t c = 0; c < s.channels; ++c)
        to[c] += place[at + c] == tap ? dy[at + c] : 0.0F;
    });
  });
}

}  // namespace headway::kernels
