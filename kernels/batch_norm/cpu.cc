// SPDX-License-Identifier: MIT
#include "kernels/batch_norm/op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

/// Rows of a tile: enough to hide the set-up, few enough for sums in float.
std::int64_t tile_rows(int channels) {
  return std::max<std::int64_t>(1, 4096 / channels);
}

// ---- whole arrays
// --------------------------------------------------------------------------------------

/// Adds the lane sums of a panel to the channels they belong to.
void gather(const Panel& p, int channels, const float* lanes, double* per_channel) {
  for (int i = 0; i < p.width; ++i) per_channel[(p.channel + i) % channels] += lanes[i];
}

/// Number of rows, means and sums of squared distances over a part of the rows; joined as in Chan
/// et al. (1979).
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

/// Sums over a tile are relative to the mean of the tiles before it, so that one pass is as
/// accurate as two; the first tile computes its own mean first.
void add_tile(const float* x, std::int64_t begin, std::int64_t end, int channels, Moments& into) {
  const auto count = static_cast<std::size_t>(channels);
  const double rows = static_cast<double>(end - begin);
  std::vector<double> mean(into.mean);
  std::vector<double> squares(count);
  std::vector<double> sums(count);
  if (into.rows == 0) {
    for_each_panel(begin, end, channels, [&](const Panel& p) {
      alignas(32) float sum[kLanes] = {};
      loops().panel_sums(x + p.offset, p, sum);
      gather(p, channels, sum, mean.data());
    });
    for (double& value : mean) value /= rows;
  }
  std::vector<float> centre(mean.begin(), mean.end());
  for_each_panel(begin, end, channels, [&](const Panel& p) {
    alignas(32) float lanes[kLanes];
    alignas(32) float sum[kLanes] = {};
    alignas(32) float square[kLanes] = {};
    spread(p, channels, centre.data(), lanes);
    loops().panel_moments(x + p.offset, p, lanes, sum, square);
    gather(p, channels, sum, sums.data());
    gather(p, channels, square, squares.data());
  });
  for (std::size_t c = 0; c < count; ++c) {
    squares[c] = std::max(0.0, squares[c] - sums[c] * sums[c] / rows);
    mean[c] = centre[c] + sums[c] / rows;
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
      loops().panel_apply(epilogue, a.x + p.offset, a.residual ? a.residual + p.offset : nullptr, p,
                          scales, shifts, a.y + p.offset, a.mask ? a.mask + p.offset : nullptr);
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
        loops().panel_reduce(epilogue, a.x + p.offset, a.dy + p.offset,
                             a.mask ? a.mask + p.offset : nullptr,
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
      loops().panel_backward(epilogue == Epilogue::kRelu, a.x + p.offset, dz + p.offset,
                             a.dx + p.offset, p, backward_lanes(p, shape, epilogue, a), lanes[0],
                             lanes[1], lanes[2]);
    });
  });
}

// Memory traffic, in floats per element; masks are bytes. Per-channel vectors are not counted.
Work batch_norm_forward_work(BatchNormShape shape, Epilogue epilogue) {
  const std::int64_t n = shape.elements();
  switch (epilogue) {
    case Epilogue::kNone:
      return {7 * n, 12 * n};  // x, x, y
    case Epilogue::kRelu:
      return {8 * n, 12 * n};  // x, x, y
    case Epilogue::kAddRelu:
      return {9 * n, 17 * n};  // x, x, residual, y, mask
  }
  return {};
}

Work batch_norm_inference_work(BatchNormShape shape, Epilogue epilogue) {
  const std::int64_t n = shape.elements();
  switch (epilogue) {
    case Epilogue::kNone:
      return {2 * n, 8 * n};
    case Epilogue::kRelu:
      return {3 * n, 8 * n};
    case Epilogue::kAddRelu:
      return {4 * n, 12 * n};
  }
  return {};
}

Work batch_norm_backward_work(BatchNormShape shape, Epilogue epilogue) {
  const std::int64_t n = shape.elements();
  switch (epilogue) {
    case Epilogue::kNone:
      return {8 * n, 20 * n};  // x, dy | x, dy, dx
    case Epilogue::kRelu:
      return {14 * n, 20 * n};  // the same: the mask is recomputed from x
    case Epilogue::kAddRelu:
      return {9 * n, 25 * n};  // x, dy, mask, dresidual | x, dresidual, dx
  }
  return {};
}

}  // namespace headway::kernels
