// SPDX-License-Identifier: MIT
#include "tests/targets/fake_cudnn/convolve.h"

#include <bit>
#include <cstring>
#include <vector>

namespace fake_cudnn {
namespace {

double value(Type type, bool tf32, const void* from, std::size_t i) {
  if (type == Type::kInt8) return static_cast<const std::int8_t*>(from)[i];
  if (type == Type::kFloat16) return static_cast<double>(static_cast<const _Float16*>(from)[i]);
  if (type == Type::kBfloat16)
    return std::bit_cast<float>(
        static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(from)[i]) << 16);
  const float x = static_cast<const float*>(from)[i];
  return tf32 ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFFE000U) : x;
}

void store(Type type, double value, void* to, std::size_t i) {
  const auto x = static_cast<float>(value);
  if (type == Type::kInt8) {
    static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(value);
  } else if (type == Type::kFloat16) {
    static_cast<_Float16*>(to)[i] = static_cast<_Float16>(x);
  } else if (type == Type::kBfloat16) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    static_cast<std::uint16_t*>(to)[i] =
        static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
  } else {
    static_cast<float*>(to)[i] = x;
  }
}

/// An array [outer][pixels][channels], which lies so or, with channels first, as [outer][channels][pixels].
struct Array {
  std::int64_t outer, pixels, channels;
  bool channels_first;

  std::size_t size() const { return static_cast<std::size_t>(outer * pixels * channels); }
  /// Where element i lies.
  std::size_t place(std::size_t i) const {
    if (!channels_first) return i;
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t image = pixels * channels;
    return static_cast<std::size_t>(at / image * image + at % channels * pixels +
                                    at % image / channels);
  }
};

std::vector<double> values(Type type, bool tf32, const void* from, const Array& array) {
  std::vector<double> all(array.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = value(type, tf32, from, array.place(i));
  return all;
}

}  // namespace

void convolve(Form form, Type type, bool tf32, const Geometry& g, void* x, void* w, void* y) {
  const Array shapes[] = {{g.images, g.height * g.width, g.channels, g.channels_first},
                          {g.filters, g.rows * g.columns, g.channels, g.channels_first},
                          {g.images, g.out_height * g.out_width, g.filters, g.channels_first}};
  void* const arrays[] = {x, w, y};
  const int result = form == Form::kBackwardData ? 0 : form == Form::kBackwardWeights ? 1 : 2;
  std::vector<double> all[3];
  for (int i = 0; i < 3; ++i)
    all[i] = i == result ? std::vector<double>(shapes[i].size())
                         : values(type, tf32, arrays[i], shapes[i]);
  double *const xs = all[0].data(), *const ws = all[1].data(), *const ys = all[2].data();
  for (std::int64_t n = 0; n < g.images; ++n)
    for (std::int64_t p = 0; p < g.out_height; ++p)
      for (std::int64_t q = 0; q < g.out_width; ++q)
        for (std::int64_t r = 0; r < g.rows; ++r)
          for (std::int64_t s = 0; s < g.columns; ++s) {
            const std::int64_t h = p * g.stride + r - g.padding, v = q * g.stride + s - g.padding;
            if (h < 0 || h >= g.height || v < 0 || v >= g.width) continue;
            double* const from = xs + ((n * g.height + h) * g.width + v) * g.channels;
            double* const to = ys + ((n * g.out_height + p) * g.out_width + q) * g.filters;
            for (std::int64_t k = 0; k < g.filters; ++k) {
              double* const by = ws + ((k * g.rows + r) * g.columns + s) * g.channels;
              double& sum = to[k];
              for (std::int64_t c = 0; c < g.channels; ++c) {
                if (form == Form::kForward) sum += from[c] * by[c];
                if (form == Form::kBackwardData) from[c] += sum * by[c];
                if (form == Form::kBackwardWeights) by[c] += sum * from[c];
              }
            }
          }
  for (std::size_t i = 0; i < all[result].size(); ++i)
    store(type, all[result][i], arrays[result], shapes[result].place(i));
}

}  // namespace fake_cudnn
