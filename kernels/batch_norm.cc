// SPDX-License-Identifier: MIT
#include "kernels/batch_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/clones.h"
#include "kernels/lanes.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

/// Rows of a tile: its floats fit half of a 32 KiB first-level cache, so its second pass is free.
std::int64_t tile_rows(int channels) {
  return std::max<std::int64_t>(1, 4096 / channels);
}

// ---- loops over one panel, for full rows of Vector and for the odd rest -----------------------------

/// sum += column sums of x.
template <class T, int kGroups>
[[gnu::always_inline]] inline void add_columns(const float* x, const Panel& p, float* sum) {
  constexpr int kStep = sizeof(T) / sizeof(float);
  T total[kGroups] = {};
  for (std::int64_t row = 0; row < p.rows; ++row, x += p.stride)
    for (int g = 0; g < kGroups; ++g) total[g] += load<T>(x + g * kStep);
  for (int g = 0; g < kGroups; ++g) store<T>(sum + g * kStep, load<T>(sum + g * kStep) + total[g]);
}

HEADWAY_CLONES void panel_sums(const float* x, const Panel& p, float* sum) {
  if (p.width == kLanes) return add_columns<Vector, kVectorsPerRow>(x, p, sum);
  for (int i = 0; i < p.width; ++i) add_columns<float, 1>(x + i, p, sum + i);
}

/// sum += column sums of (x - mean)².
template <class T, int kGroups>
[[gnu::always_inline]] inline void add_squares(const float* x, const Panel& p, const float* mean,
                                               float* sum) {
  constexpr int kStep = sizeof(T) / sizeof(float);
  T total[kGroups] = {};
  T centre[kGroups];
  for (int g = 0; g < kGroups; ++g) centre[g] = load<T>(mean + g * kStep);
  for (std::int64_t row = 0; row < p.rows; ++row, x += p.stride) {
    for (int g = 0; g < kGroups; ++g) {
      T distance = load<T>(x + g * kStep) - centre[g];
      total[g] += distance * distance;
    }
  }
  for (int g = 0; g < kGroups; ++g) store<T>(sum + g * kStep, load<T>(sum + g * kStep) + total[g]);
}

HEADWAY_CLONES void panel_squares(const float* x, const Panel& p, const float* mean, float* sum) {
  if (p.width == kLanes) return add_squares<Vector, kVectorsPerRow>(x, p, mean, sum);
  for (int i = 0; i < p.width; ++i) add_squares<float, 1>(x + i, p, mean + i, sum + i);
}

/// y = epilogue(x · scale + shift).
template <class T, int kGroups, Epilogue kEpilogue>
[[gnu::always_inline]] inline void apply_scale(const float* x, const float* r, const Panel& p,
                                               const float* scale, const float* shift, float* y,
                                               std::uint8_t* mask) {
  constexpr int kStep = sizeof(T) / sizeof(float);
  const T zero{};
  for (std::int64_t row = 0; row < p.rows; ++row) {
    for (int g = 0; g < kGroups; ++g) {
      const int i = g * kStep;
      T z = load<T>(x + i) * load<T>(scale + i) + load<T>(shift + i);
      if constexpr (kEpilogue == Epilogue::kAddRelu) z += load<T>(r + i);
      if constexpr (kEpilogue != Epilogue::kNone) z = z > zero ? z : zero;
      store<T>(y + i, z);
    }
    if constexpr (kEpilogue == Epilogue::kAddRelu) {
      if (mask) {
        for (int i = 0; i < kGroups * kStep; ++i) mask[i] = y[i] > 0;
        mask += p.stride;
      }
      r += p.stride;
    }
    x += p.stride;
    y += p.stride;
  }
}

template <Epilogue kEpilogue>
[[gnu::always_inline]] inline void apply_panel(const float* x, const float* r, const Panel& p,
                                               const float* scale, const float* shift, float* y,
                                               std::uint8_t* mask) {
  if (p.width == kLanes)
    return apply_scale<Vector, kVectorsPerRow, kEpilogue>(x, r, p, scale, shift, y, mask);
  for (int i = 0; i < p.width; ++i)
    apply_scale<float, 1, kEpilogue>(x + i, r + i, p, scale + i, shift + i, y + i,
                                     mask ? mask + i : nullptr);
}

HEADWAY_CLONES void panel_apply(Epilogue epilogue, const float* x, const float* r, const Panel& p,
                                const float* scale, const float* shift, float* y,
                                std::uint8_t* mask) {
  switch (epilogue) {
    case Epilogue::kNone:
      return apply_panel<Epilogue::kNone>(x, x, p, scale, shift, y, nullptr);
    case Epilogue::kRelu:
      return apply_panel<Epilogue::kRelu>(x, x, p, scale, shift, y, nullptr);
    case Epilogue::kAddRelu:
      return apply_panel<Epilogue::kAddRelu>(x, r, p, scale, shift, y, mask);
  }
}

/// Per-lane constants of the backward loops.
struct BackwardLanes {
  alignas(32) float mean[kLanes];
  alignas(32) float scale[kLanes];  ///< forward: z = x · scale + shift (kRelu recomputes the mask)
  alignas(32) float shift[kLanes];
};

/// sum_dz += column sums of dz, sum_dzx += column sums of dz · (x - mean). For kAddRelu writes dz.
template <class T, int kGroups, Epilogue kEpilogue>
[[gnu::always_inline]] inline void reduce(const float* x, const float* dy, const std::uint8_t* mask,
                                          float* dz_out, const Panel& p, const BackwardLanes& lanes,
                                          int lane, float* sum_dz, float* sum_dzx) {
  constexpr int kStep = sizeof(T) / sizeof(float);
  const T zero{};
  T total[kGroups] = {};
  T total_x[kGroups] = {};
  for (std::int64_t row = 0; row < p.rows; ++row) {
    if constexpr (kEpilogue == Epilogue::kAddRelu) {
      for (int i = 0; i < kGroups * kStep; ++i) dz_out[i] = mask[i] ? dy[i] : 0.0F;
    }
    for (int g = 0; g < kGroups; ++g) {
      const int i = g * kStep;
      T value = load<T>(x + i);
      T dz = load<T>(kEpilogue == Epilogue::kAddRelu ? dz_out + i : dy + i);
      if constexpr (kEpilogue == Epilogue::kRelu) {
        T z = value * load<T>(lanes.scale + lane + i) + load<T>(lanes.shift + lane + i);
        dz = z > zero ? dz : zero;
      }
      total[g] += dz;
      total_x[g] += dz * (value - load<T>(lanes.mean + lane + i));
    }
    if constexpr (kEpilogue == Epilogue::kAddRelu) {
      dz_out += p.stride;
      mask += p.stride;
    }
    x += p.stride;
    dy += p.stride;
  }
  for (int g = 0; g < kGroups; ++g) {
    store<T>(sum_dz + g * kStep, load<T>(sum_dz + g * kStep) + total[g]);
    store<T>(sum_dzx + g * kStep, load<T>(sum_dzx + g * kStep) + total_x[g]);
  }
}

template <Epilogue kEpilogue>
[[gnu::always_inline]] inline void reduce_panel(const float* x, const float* dy,
                                                const std::uint8_t* mask, float* dz, const Panel& p,
                                                const BackwardLanes& lanes, float* sum_dz,
                                                float* sum_dzx) {
  if (p.width == kLanes)
    return reduce<Vector, kVectorsPerRow, kEpilogue>(x, dy, mask, dz, p, lanes, 0, sum_dz, sum_dzx);
  for (int i = 0; i < p.width; ++i) {
    reduce<float, 1, kEpilogue>(x + i, dy + i, mask ? mask + i : nullptr, dz ? dz + i : nullptr, p,
                                lanes, i, sum_dz + i, sum_dzx + i);
  }
}

HEADWAY_CLONES void panel_reduce(Epilogue epilogue, const float* x, const float* dy,
                                 const std::uint8_t* mask, float* dz, const Panel& p,
                                 const BackwardLanes& lanes, float* sum_dz, float* sum_dzx) {
  switch (epilogue) {
    case Epilogue::kNone:
      return reduce_panel<Epilogue::kNone>(x, dy, nullptr, nullptr, p, lanes, sum_dz, sum_dzx);
    case Epilogue::kRelu:
      return reduce_panel<Epilogue::kRelu>(x, dy, nullptr, nullptr, p, lanes, sum_dz, sum_dzx);
    case Epilogue::kAddRelu:
      return reduce_panel<Epilogue::kAddRelu>(x, dy, mask, dz, p, lanes, sum_dz, sum_dzx);
  }
}

/// dx = a · dz + b · x + c, with dz masked again for kRelu and read from dresidual for kAddRelu.
template <class T, int kGroups, bool kRemask>
[[gnu::always_inline]] inline void apply_backward(const float* x, const float* dz, float* dx,
                                                  const Panel& p, const BackwardLanes& lanes,
                                                  int lane, const float* a, const float* b,
                                                  const float* c) {
  constexpr int kStep = sizeof(T) / sizeof(float);
  const T zero{};
  for (std::int64_t row = 0; row < p.rows; ++row) {
    for (int g = 0; g < kGroups; ++g) {
      const int i = g * kStep;
      T value = load<T>(x + i);
      T gradient = load<T>(dz + i);
      if constexpr (kRemask) {
        T z = value * load<T>(lanes.scale + lane + i) + load<T>(lanes.shift + lane + i);
        gradient = z > zero ? gradient : zero;
      }
      store<T>(dx + i, load<T>(a + i) * gradient + (load<T>(b + i) * value + load<T>(c + i)));
    }
    x += p.stride;
    dz += p.stride;
    dx += p.stride;
  }
}

template <bool kRemask>
[[gnu::always_inline]] inline void backward_panel(const float* x, const float* dz, float* dx,
                                                  const Panel& p, const BackwardLanes& lanes,
                                                  const float* a, const float* b, const float* c) {
  if (p.width == kLanes)
    return apply_backward<Vector, kVectorsPerRow, kRemask>(x, dz, dx, p, lanes, 0, a, b, c);
  for (int i = 0; i < p.width; ++i)
    apply_backward<float, 1, kRemask>(x + i, dz + i, dx + i, p, lanes, i, a + i, b + i, c + i);
}

HEADWAY_CLONES void panel_backward(bool remask, const float* x, const float* dz, float* dx,
                                   const Panel& p, const BackwardLanes& lanes, const float* a,
                                   const float* b, const float* c) {
  remask ? backward_panel<true>(x, dz, dx, p, lanes, a, b, c)
         : backward_panel<false>(x, dz, dx, p, lanes, a, b, c);
}

// ---- whole arrays --------------------------------------------------------------------------------------

/// Adds the lane sums of a panel to the channels they belong to.
void gather(const Panel& p, int channels, const float* lanes, double* per_channel) {
  for (int i = 0; i < p.width; ++i) per_channel[(p.channel + i) % channels] += lanes[i];
}

/// Rows, means and sums of squared distances of a part of the rows; joined as Chan et al. (1979).
struct Moments {
  std::int64_t rows = 0;
  std::vector<double> mean;
  std::vector<double> squares;

  explicit Moments(int channels)
      : mean(static_cast<std::size_t>(channels)), squares(static_cast<std::size_t>(channels)) {}

  void join(std::int64_t other_rows, const double* other_mean, const double* other_squares) {
    if (other_rows == 0) return;
    const double total = static_cast<double>(rows + other_rows);
    const double other_share = static_cast<double>(other_rows) / total;
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double distance = other_mean[c] - mean[c];
      squares[c] +=
          other_squares[c] + distance * distance * static_cast<double>(rows) * other_share;
      mean[c] += distance * other_share;
    }
    rows += other_rows;
  }
};

void add_tile(const float* x, std::int64_t begin, std::int64_t end, int channels, Moments& into) {
  const auto count = static_cast<std::size_t>(channels);
  std::vector<double> mean(count);
  std::vector<double> squares(count);
  for_each_panel(begin, end, channels, [&](const Panel& p) {
    alignas(32) float sum[kLanes] = {};
    panel_sums(x + p.offset, p, sum);
    gather(p, channels, sum, mean.data());
  });
  std::vector<float> centre(count);
  for (std::size_t c = 0; c < count; ++c) {
    // Squares are taken about the rounded mean and moved to the exact one afterwards.
    mean[c] /= static_cast<double>(end - begin);
    centre[c] = static_cast<float>(mean[c]);
  }
  for_each_panel(begin, end, channels, [&](const Panel& p) {
    alignas(32) float lanes[kLanes];
    alignas(32) float sum[kLanes] = {};
    spread(p, channels, centre.data(), lanes);
    panel_squares(x + p.offset, p, lanes, sum);
    gather(p, channels, sum, squares.data());
  });
  for (std::size_t c = 0; c < count; ++c) {
    const double off = mean[c] - centre[c];
    squares[c] = std::max(0.0, squares[c] - static_cast<double>(end - begin) * off * off);
  }
  into.join(end - begin, mean.data(), squares.data());
}

/// Calls body(piece, begin, end) on row ranges in parallel; pieces are numbered from 0.
template <class Body>
void parallel_rows(BatchNormShape shape, int pieces, const Body& body) {
  parallel_for(pieces, 1, pieces, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece)
      body(static_cast<std::size_t>(piece), shape.rows * piece / pieces,
           shape.rows * (piece + 1) / pieces);
  });
}

int pieces_for(BatchNormShape shape) {
  return static_cast<int>(
      std::clamp<std::int64_t>(shape.elements() / kFlatGrain, 1, max_threads()));
}

Moments moments(BatchNormShape shape, const float* x) {
  const int pieces = pieces_for(shape);
  std::vector<Moments> parts(static_cast<std::size_t>(pieces), Moments(shape.channels));
  parallel_rows(shape, pieces, [&](std::size_t piece, std::int64_t begin, std::int64_t end) {
    const std::int64_t step = tile_rows(shape.channels);
    for (std::int64_t row = begin; row < end; row += step)
      add_tile(x, row, std::min(end, row + step), shape.channels, parts[piece]);
  });
  for (std::size_t piece = 1; piece < parts.size(); ++piece)
    parts[0].join(parts[piece].rows, parts[piece].mean.data(), parts[piece].squares.data());
  return std::move(parts[0]);
}

/// y = epilogue(x · scale + shift) over the whole array.
void apply(BatchNormShape shape, Epilogue epilogue, const float* scale, const float* shift,
           const BatchNormForward& a) {
  parallel_rows(shape, pieces_for(shape), [&](std::size_t, std::int64_t begin, std::int64_t end) {
    for_each_panel(begin, end, shape.channels, [&](const Panel& p) {
      alignas(32) float scales[kLanes];
      alignas(32) float shifts[kLanes];
      spread(p, shape.channels, scale, scales);
      spread(p, shape.channels, shift, shifts);
      panel_apply(epilogue, a.x + p.offset, a.residual ? a.residual + p.offset : nullptr, p, scales,
                  shifts, a.y + p.offset, a.mask ? a.mask + p.offset : nullptr);
    });
  });
}

BackwardLanes backward_lanes(const Panel& p, BatchNormShape shape, Epilogue epilogue,
                             const BatchNormBackward& a) {
  BackwardLanes lanes{};
  spread(p, shape.channels, a.saved_mean, lanes.mean);
  if (epilogue != Epilogue::kRelu) return lanes;
  for (int i = 0; i < p.width; ++i) {
    const int c = (p.channel + i) % shape.channels;
    lanes.scale[i] = a.gamma[c] * a.saved_rstd[c];
    lanes.shift[i] = a.beta[c] - a.saved_mean[c] * lanes.scale[i];
  }
  return lanes;
}

/// Sums over all rows of dz (first half) and dz · (x - mean) (second half), per channel.
std::vector<double> backward_sums(BatchNormShape shape, Epilogue epilogue,
                                  const BatchNormBackward& a) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const int pieces = pieces_for(shape);
  std::vector<std::vector<double>> parts(static_cast<std::size_t>(pieces),
                                         std::vector<double>(2 * channels));
  parallel_rows(shape, pieces, [&](std::size_t piece, std::int64_t begin, std::int64_t end) {
    const std::int64_t step = tile_rows(shape.channels);
    for (std::int64_t row = begin; row < end; row += step) {
      for_each_panel(row, std::min(end, row + step), shape.channels, [&](const Panel& p) {
        alignas(32) float sums[2][kLanes] = {};
        panel_reduce(epilogue, a.x + p.offset, a.dy + p.offset, a.mask ? a.mask + p.offset : nullptr,
                     a.dresidual ? a.dresidual + p.offset : nullptr, p,
                     backward_lanes(p, shape, epilogue, a), sums[0], sums[1]);
        gather(p, shape.channels, sums[0], parts[piece].data());
        gather(p, shape.channels, sums[1], parts[piece].data() + channels);
      });
    }
  });
  for (std::size_t piece = 1; piece < parts.size(); ++piece)
    for (std::size_t i = 0; i < 2 * channels; ++i) parts[0][i] += parts[piece][i];
  return std::move(parts[0]);
}

}  // namespace

void batch_norm_forward(BatchNormShape shape, Epilogue epilogue, float epsilon, float momentum,
                        const BatchNormForward& a) {
  const Moments of = moments(shape, a.x);
  const auto channels = static_cast<std::size_t>(shape.channels);
  std::vector<float> scale(channels);
  std::vector<float> shift(channels);
  const double rows = static_cast<double>(shape.rows);
  for (std::size_t c = 0; c < channels; ++c) {
    const double variance = of.squares[c] / rows;
    const double unbiased = of.squares[c] / std::max(1.0, rows - 1);
    a.saved_mean[c] = static_cast<float>(of.mean[c]);
    a.saved_rstd[c] = static_cast<float>(1 / std::sqrt(variance + epsilon));
    scale[c] = a.gamma[c] * a.saved_rstd[c];
    shift[c] = a.beta[c] - a.saved_mean[c] * scale[c];
    a.running_mean[c] += momentum * (static_cast<float>(of.mean[c]) - a.running_mean[c]);
    a.running_variance[c] += momentum * (static_cast<float>(unbiased) - a.running_variance[c]);
  }
  apply(shape, epilogue, scale.data(), shift.data(), a);
}

void batch_norm_inference(BatchNormShape shape, Epilogue epilogue, float epsilon,
                          const BatchNormForward& a) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  std::vector<float> scale(channels);
  std::vector<float> shift(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    scale[c] = a.gamma[c] / std::sqrt(a.running_variance[c] + epsilon);
    shift[c] = a.beta[c] - a.running_mean[c] * scale[c];
  }
  BatchNormForward without_mask = a;
  without_mask.mask = nullptr;
  apply(shape, epilogue, scale.data(), shift.data(), without_mask);
}

void batch_norm_backward(BatchNormShape shape, Epilogue epilogue, const BatchNormBackward& a) {
  const std::vector<double> sums = backward_sums(shape, epilogue, a);
  const auto channels = static_cast<std::size_t>(shape.channels);
  std::array<std::vector<float>, 3> factors;  // dx = factors[0]·dz + factors[1]·x + factors[2]
  for (std::vector<float>& factor : factors) factor.resize(channels);
  const double rows = static_cast<double>(shape.rows);
  for (std::size_t c = 0; c < channels; ++c) {
    const double rstd = a.saved_rstd[c];
    const double dbeta = sums[c];
    const double dgamma = sums[channels + c] * rstd;
    a.dbeta[c] = static_cast<float>(dbeta);
    a.dgamma[c] = static_cast<float>(dgamma);
    const double scale = a.gamma[c] * rstd;
    const double slope = -scale * rstd * dgamma / rows;
    factors[0][c] = static_cast<float>(scale);
    factors[1][c] = static_cast<float>(slope);
    factors[2][c] = static_cast<float>(-scale * dbeta / rows - slope * a.saved_mean[c]);
  }
  const float* dz = epilogue == Epilogue::kAddRelu ? a.dresidual : a.dy;
  parallel_rows(shape, pieces_for(shape), [&](std::size_t, std::int64_t begin, std::int64_t end) {
    for_each_panel(begin, end, shape.channels, [&](const Panel& p) {
      alignas(32) float lanes[3][kLanes];
      for (std::size_t i = 0; i < 3; ++i) spread(p, shape.channels, factors[i].data(), lanes[i]);
      panel_backward(epilogue == Epilogue::kRelu, a.x + p.offset, dz + p.offset, a.dx + p.offset, p,
                     backward_lanes(p, shape, epilogue, a), lanes[0], lanes[1], lanes[2]);
    });
  });
}

// Passes over memory, in floats per element; masks are bytes. Per-channel vectors are left out.
Work batch_norm_forward_work(BatchNormShape shape, Epilogue epilogue) {
  const std::int64_t n = shape.elements();
  switch (epilogue) {
    case Epilogue::kNone: return {7 * n, 12 * n};      // x, x, y
    case Epilogue::kRelu: return {8 * n, 12 * n};      // x, x, y
    case Epilogue::kAddRelu: return {9 * n, 17 * n};   // x, x, residual, y, mask
  }
  return {};
}

Work batch_norm_inference_work(BatchNormShape shape, Epilogue epilogue) {
  const std::int64_t n = shape.elements();
  switch (epilogue) {
    case Epilogue::kNone: return {2 * n, 8 * n};
    case Epilogue::kRelu: return {3 * n, 8 * n};
    case Epilogue::kAddRelu: return {4 * n, 12 * n};
  }
  return {};
}

Work batch_norm_backward_work(BatchNormShape shape, Epilogue epilogue) {
  const std::int64_t n = shape.elements();
  switch (epilogue) {
    case Epilogue::kNone: return {8 * n, 20 * n};      // x, dy | x, dy, dx
    case Epilogue::kRelu: return {14 * n, 20 * n};     // the same: the mask comes from x
    case Epilogue::kAddRelu: return {9 * n, 25 * n};   // x, dy, mask, dresidual | x, dresidual, dx
  }
  return {};
}

}  // namespace headway::kernels
