// SPDX-License-Identifier: MIT
// The second half of decoding a JPEG, value by value, for every device. All arithmetic is in
// integers and cannot overflow.
#pragma once

#include <cstdint>

// Always inlined, because the loops of several instruction sets share it (kernels/loops/lanes.h).
#ifdef __CUDACC__
#define HEADWAY_JPEG __host__ __device__ __forceinline__
#else
#define HEADWAY_JPEG [[gnu::always_inline]] inline
#endif

namespace headway::kernels::jpeg {

/// `Int` is a 32-bit integer here and below, or a vector of them.
template <class Int>
HEADWAY_JPEG Int cut_off(Int x, int least, int most) {
  const Int low = Int{} + least, high = Int{} + most;
  return x < low ? low : x > high ? high : x;
}
template <class Int>
HEADWAY_JPEG Int to_16_bits(Int x) {
  return cut_off(x, -32768, 32767);
}

/// sqrt(8) · 8192 times the inverse DCT of 8 values: y[n] = sum over k of c(k) · x[k] · cos((2n +
/// 1) · k · pi / 16), where c(0) is 8192 and the others are 8192 · sqrt(2). The even x contribute
/// equally to n and 7 - n, the odd ones with opposite signs. The constants are products of
/// libjpeg's factors (Loeffler, Ligtenberg and Moschytz, 13 fractional bits), so their last digits
/// differ from row to row. The magnitudes of a row add up to at most 61214: for 16-bit values the
/// sum fits into 32 bits.
template <class Int>
HEADWAY_JPEG void inverse_dct(const Int (&x)[8], Int (&y)[8]) {
  const Int sum = 8192 * x[0] + 8192 * x[4], difference = 8192 * x[0] - 8192 * x[4];
  const Int outer = 10703 * x[2] + 4433 * x[6], inner = 4433 * x[2] - 10704 * x[6];
  const Int even[4] = {sum + outer, difference + inner, difference - inner, sum - outer};
  const Int odd[4] = {11363 * x[1] + 9633 * x[3] + 6437 * x[5] + 2260 * x[7],
                      9633 * x[1] - 2259 * x[3] - 11362 * x[5] - 6436 * x[7],
                      6437 * x[1] - 11362 * x[3] + 2261 * x[5] + 9633 * x[7],
                      2260 * x[1] - 6436 * x[3] + 9633 * x[5] - 11363 * x[7]};
  for (int n = 0; n < 4; ++n) {
    y[n] = even[n] + odd[n];
    y[7 - n] = even[n] - odd[n];
  }
}
/// Input of the row transforms, which follow the column transforms: sqrt(8) times the value, with
/// two fractional bits.
template <class Int>
HEADWAY_JPEG Int after_columns(Int y) {
  return to_16_bits<Int>((y + (1 << 10)) >> 11);
}
/// A sample from the result of the row transform.
template <class Int>
HEADWAY_JPEG Int after_rows(Int y) {
  return cut_off<Int>((y + (1 << 17)) >> 18, -128, 127) + 128;
}

/// A sample between two, weighted 3/4 and 1/4. Exact halves are rounded up at one pixel and down at
/// the next, so that a plane does not become lighter. `later` says which of the nearer sample's two
/// pixels it is.
HEADWAY_JPEG int between(int nearer, int farther, bool later) {
  return (3 * nearer + farther + (later ? 2 : 1)) >> 2;
}
/// The same along both axes, from sums 3 · nearer + farther along the first axis.
HEADWAY_JPEG int between_sums(int nearer, int farther, bool later) {
  return (3 * nearer + farther + (later ? 7 : 8)) >> 4;
}

/// The index of the second sample, or row of samples, beside a pixel; there are `count` samples.
HEADWAY_JPEG int farther_of(int pixel, int count) {
  return cut_off(pixel / 2 + (pixel % 2 == 0 ? -1 : 1), 0, count - 1);
}

/// A pixel from the coefficients of ITU-T T.871 with 16 fractional bits.
HEADWAY_JPEG void to_rgb(int y, int cb, int cr, std::uint8_t* rgb) {
  const int blue = cb - 128, red = cr - 128, half = 1 << 15;
  rgb[0] = static_cast<std::uint8_t>(cut_off(y + ((91881 * red + half) >> 16), 0, 255));
  rgb[1] =
      static_cast<std::uint8_t>(cut_off(y + ((-22554 * blue - 46802 * red + half) >> 16), 0, 255));
  rgb[2] = static_cast<std::uint8_t>(cut_off(y + ((116130 * blue + half) >> 16), 0, 255));
}

}  // namespace headway::kernels::jpeg
