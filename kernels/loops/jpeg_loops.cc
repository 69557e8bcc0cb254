// SPDX-License-Identifier: MIT
#include "kernels/loops/jpeg_arithmetic.h"
#include "kernels/loops/lanes.h"
#include "kernels/loops/loops.h"

// Compiled once per instruction set (see lanes.h); integer arithmetic, so that each gives the same
// result.
namespace headway::kernels::HEADWAY_ISA {
namespace {

using Ints [[gnu::vector_size(32)]] = std::int32_t;
using Shorts [[gnu::vector_size(16)]] = std::int16_t;
using Steps [[gnu::vector_size(16)]] = std::uint16_t;
using Bytes [[gnu::vector_size(8)]] = std::uint8_t;

/// Transposes: three rounds exchange elements that are 4, 2 and 1 apart.
[[gnu::always_inline]] inline void transpose8(const Ints (&from)[8], Ints (&to)[8]) {
  Shorts a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = __builtin_convertvector(from[i], Shorts);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      b[2 * i] = __builtin_shufflevector(a[i], a[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; ++i) a[i] = b[i];
  }
  for (int i = 0; i < 8; ++i) to[i] = __builtin_convertvector(a[i], Ints);
}

/// Transforms the 8 columns of a block at once, then its 8 rows.
[[gnu::always_inline]] inline void block_samples(const std::int16_t* coefficients,
                                                 const Ints (&steps)[8], std::uint8_t* to,
                                                 std::int64_t row) {
  Ints x[8], y[8];
  for (int k = 0; k < 8; ++k) {
    Shorts eight;
    __builtin_memcpy(&eight, coefficients + 8 * k, sizeof eight);
    x[k] = jpeg::to_16_bits<Ints>(__builtin_convertvector(eight, Ints) * steps[k]);
  }
  jpeg::inverse_dct(x, y);
  for (int k = 0; k < 8; ++k) y[k] = jpeg::after_columns(y[k]);
  transpose8(y, x);
  jpeg::inverse_dct(x, y);
  for (int k = 0; k < 8; ++k) y[k] = jpeg::after_rows(y[k]);
  transpose8(y, x);
  for (int k = 0; k < 8; ++k) {
    const Bytes eight = __builtin_convertvector(x[k], Bytes);
    __builtin_memcpy(to + k * row, &eight, sizeof eight);
  }
}

/// Two pixels for each sample.
template <bool kRows>
[[gnu::always_inline]] inline void widen(const JpegSampleRows& rows, std::uint8_t* __restrict to) {
  const std::uint8_t* const nearer = rows.nearer;
  const std::uint8_t* const farther = rows.farther;
  auto along_rows = [=](std::int64_t i) -> int {
    return kRows ? 3 * nearer[i] + farther[i] : nearer[i];
  };
  auto put = [=](std::int64_t i, std::int64_t before, std::int64_t after) {
    const int here = along_rows(i), left = along_rows(before), right = along_rows(after);
    to[2 * i] = static_cast<std::uint8_t>(kRows ? jpeg::between_sums(here, left, false)
                                                : jpeg::between(here, left, false));
    to[2 * i + 1] = static_cast<std::uint8_t>(kRows ? jpeg::between_sums(here, right, true)
                                                    : jpeg::between(here, right, true));
  };
  const std::int64_t last = rows.samples - 1;
  put(0, 0, last > 0 ? 1 : 0);
  for (std::int64_t i = 1; i < last; ++i) put(i, i - 1, i + 1);
  if (last > 0) put(last, last - 1, last);
}

}  // namespace

void jpeg_samples(std::int64_t count, const std::int16_t* coefficients, const std::uint16_t* steps,
                  std::uint8_t* to, std::int64_t row) {
  Ints wide[8];
  for (int k = 0; k < 8; ++k) {
    Steps eight;
    __builtin_memcpy(&eight, steps + 8 * k, sizeof eight);
    wide[k] = __builtin_convertvector(eight, Ints);
  }
  for (std::int64_t i = 0; i < count; ++i)
    block_samples(coefficients + 64 * i, wide, to + 8 * i, row);
}

void jpeg_widen(const JpegSampleRows& rows, std::uint8_t* __restrict to) {
  if (rows.repeat) {
    for (std::int64_t i = 0; i < rows.samples; ++i) to[2 * i] = to[2 * i + 1] = rows.nearer[i];
  } else if (rows.columns_per_sample == 1) {
    for (std::int64_t i = 0; i < rows.samples; ++i)
      to[i] = static_cast<std::uint8_t>(jpeg::between(rows.nearer[i], rows.farther[i], rows.later));
  } else if (rows.farther) {
    widen<true>(rows, to);
  } else {
    widen<false>(rows, to);
  }
}

void jpeg_colours(std::int64_t count, const std::uint8_t* y, const std::uint8_t* cb,
                  const std::uint8_t* cr, std::uint8_t* __restrict rgb) {
  if (!cb) {
    for (std::int64_t i = 0; i < count; ++i) rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = y[i];
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) jpeg::to_rgb(y[i], cb[i], cr[i], rgb + 3 * i);
}

}  // namespace headway::kernels::HEADWAY_ISA
