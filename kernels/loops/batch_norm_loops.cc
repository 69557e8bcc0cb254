// SPDX-License-Identifier: MIT
#include "kernels/loops/lanes.h"
#include "kernels/loops/loops.h"

// Compiled once per instruction set (see lanes.h): each loop for full rows of Vector and for the
// remaining lanes.
namespace headway::kernels::HEADWAY_ISA {
namespace {

/// sum += column sums of x.
template <class T, int kGroups>
[[gnu::always_inline]] inline void add_columns(const float* x, const Panel& p, float* sum) {
  constexpr int kStep = sizeof(T) / sizeof(float);
  T total[kGroups] = {};
  for (std::int64_t row = 0; row < p.rows; ++row, x += p.stride)
    for (int g = 0; g < kGroups; ++g) total[g] += load<T>(x + g * kStep);
  for (int g = 0; g < kGroups; ++g) store<T>(sum + g * kStep, load<T>(sum + g * kStep) + total[g]);
}

}  // namespace

void panel_sums(const float* x, const Panel& p, float* sum) {
  if (p.width == kLanes) return add_columns<Vector, kVectorsPerRow>(x, p, sum);
  for (int i = 0; i < p.width; ++i) add_columns<float, 1>(x + i, p, sum + i);
}

namespace {

/// sum += column sums of x - centre, squares += of (x - centre)².
template <class T, int kGroups>
[[gnu::always_inline]] inline void add_moments(const float* x, const Panel& p, const float* centre,
                                               float* sum, float* squares) {
  constexpr int kStep = sizeof(T) / sizeof(float);
  T total[kGroups] = {};
  T total_squares[kGroups] = {};
  T middle[kGroups];
  for (int g = 0; g < kGroups; ++g) middle[g] = load<T>(centre + g * kStep);
  for (std::int64_t row = 0; row < p.rows; ++row, x += p.stride) {
    for (int g = 0; g < kGroups; ++g) {
      T distance = load<T>(x + g * kStep) - middle[g];
      total[g] += distance;
      total_squares[g] += distance * distance;
    }
  }
  for (int g = 0; g < kGroups; ++g) {
    store<T>(sum + g * kStep, load<T>(sum + g * kStep) + total[g]);
    store<T>(squares + g * kStep, load<T>(squares + g * kStep) + total_squares[g]);
  }
}

}  // namespace

void panel_moments(const float* x, const Panel& p, const float* centre, float* sum,
                   float* squares) {
  if (p.width == kLanes) return add_moments<Vector, kVectorsPerRow>(x, p, centre, sum, squares);
  for (int i = 0; i < p.width; ++i)
    add_moments<float, 1>(x + i, p, centre + i, sum + i, squares + i);
}

namespace {
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

}  // namespace

void panel_apply(Epilogue epilogue, const float* x, const float* r, const Panel& p,
                 const float* scale, const float* shift, float* y, std::uint8_t* mask) {
  switch (epilogue) {
    case Epilogue::kNone:
      return apply_panel<Epilogue::kNone>(x, x, p, scale, shift, y, nullptr);
    case Epilogue::kRelu:
      return apply_panel<Epilogue::kRelu>(x, x, p, scale, shift, y, nullptr);
    case Epilogue::kAddRelu:
      return apply_panel<Epilogue::kAddRelu>(x, r, p, scale, shift, y, mask);
  }
}

namespace {

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
      // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): this epilogue has both
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

}  // namespace

void panel_reduce(Epilogue epilogue, const float* x, const float* dy, const std::uint8_t* mask,
                  float* dz, const Panel& p, const BackwardLanes& lanes, float* sum_dz,
                  float* sum_dzx) {
  switch (epilogue) {
    case Epilogue::kNone:
      return reduce_panel<Epilogue::kNone>(x, dy, nullptr, nullptr, p, lanes, sum_dz, sum_dzx);
    case Epilogue::kRelu:
      return reduce_panel<Epilogue::kRelu>(x, dy, nullptr, nullptr, p, lanes, sum_dz, sum_dzx);
    case Epilogue::kAddRelu:
      return reduce_panel<Epilogue::kAddRelu>(x, dy, mask, dz, p, lanes, sum_dz, sum_dzx);
  }
}

namespace {

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

}  // namespace

void panel_backward(bool remask, const float* x, const float* dz, float* dx, const Panel& p,
                    const BackwardLanes& lanes, const float* a, const float* b, const float* c) {
  remask ? backward_panel<true>(x, dz, dx, p, lanes, a, b, c)
         : backward_panel<false>(x, dz, dx, p, lanes, a, b, c);
}

}  // namespace headway::kernels::HEADWAY_ISA
