// SPDX-License-Identifier: MIT
#include "kernels/jpeg_blocks/launch.h"

#include "kernels/cuda/device.cuh"
#include "kernels/jpeg_blocks/places.h"
#include "kernels/loops/jpeg_arithmetic.h"

namespace headway::kernels::cuda {

constexpr int kSide = 8;  // of a block; also its number of threads
constexpr int kBlocksOfWarp = kLanes / kSide;

/// Exchanges value i of thread t with value t of thread i, among eight threads of a warp, which
/// must all call it.
__device__ __forceinline__ void transpose(int (&values)[kSide], int thread) {
#pragma unroll
  for (int step = 1; step < kSide; step *= 2) {
    const bool upper = (thread & step) != 0;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      if ((i & step) != 0) continue;
      const int got = __shfl_xor_sync(kFullWarp, upper ? values[i] : values[i + step], step);
      values[i] = upper ? got : values[i];
      values[i + step] = upper ? values[i + step] : got;
    }
  }
}

/// A thread has row `thread` of a block, its column for the column pass, and its row again at the
/// end.
HEADWAY_KERNEL(jpeg_samples, 256, DecodeJpegBlocks) {
  const int thread = threadIdx.x % kSide;
  const std::int64_t blocks = jpeg::blocks_of(a.pictures, a.images);
  for (std::int64_t first = global_thread() / kLanes * kBlocksOfWarp; first < blocks;
       first += global_threads() / kLanes * kBlocksOfWarp) {
    // Threads of the last warp that have no block repeat the last block, because all lanes must
    // take part.
    const std::int64_t mine = first + threadIdx.x % kLanes / kSide;
    const jpeg::Place place =
        jpeg::place_of(a.pictures, a.images, mine < blocks ? mine : blocks - 1);
    const JpegPlane& plane = a.pictures[place.image].plane[place.plane];
    const auto row = *reinterpret_cast<const Pack<std::int16_t, kSide>*>(
        a.coefficients + plane.offset + std::int64_t{place.block} * (kSide * kSide) +
        thread * kSide);
    int x[kSide], y[kSide];
#pragma unroll
    for (int k = 0; k < kSide; ++k)
      x[k] = jpeg::to_16_bits<int>(row.at[k] * plane.steps[thread * kSide + k]);
    transpose(x, thread);
    jpeg::inverse_dct(x, y);
#pragma unroll
    for (int k = 0; k < kSide; ++k) x[k] = jpeg::after_columns(y[k]);
    transpose(x, thread);
    jpeg::inverse_dct(x, y);
    Pack<std::uint8_t, kSide> samples;
#pragma unroll
    for (int k = 0; k < kSide; ++k)
      samples.at[k] = static_cast<std::uint8_t>(jpeg::after_rows(y[k]));
    if (mine >= blocks) continue;
    const std::int64_t down = std::int64_t{place.block / plane.blocks_wide} * kSide + thread;
    const int across = place.block % plane.blocks_wide;
    *reinterpret_cast<Pack<std::uint8_t, kSide>*>(
        a.samples + plane.offset + (down * plane.blocks_wide + across) * kSide) = samples;
  }
}

/// The sample of a plane for pixel (y, x).
__device__ __forceinline__ int sample_at(const DecodeJpegBlocks& op, const JpegPicture& picture,
                                         const JpegPlane& plane, int y, int x) {
  const std::int64_t row = std::int64_t{plane.blocks_wide} * kSide;
  const bool rows = plane.rows_per_sample == 2, columns = plane.columns_per_sample == 2;
  const std::uint8_t* const nearer = op.samples + plane.offset + (rows ? y / 2 : y) * row;
  const int here = columns ? x / 2 : x;
  if ((!rows && !columns) || jpeg::repeats(picture, plane)) return nearer[here];
  const std::uint8_t* const farther =
      rows ? op.samples + plane.offset +
                 jpeg::farther_of(y, jpeg::samples_along(picture.height, 2)) * row
           : nullptr;
  if (!columns) return jpeg::between(nearer[here], farther[here], y % 2 == 1);
  const int there = jpeg::farther_of(x, jpeg::samples_along(picture.width, 2));
  const bool later = x % 2 == 1;
  return rows ? jpeg::between_sums(3 * nearer[here] + farther[here],
                                   3 * nearer[there] + farther[there], later)
              : jpeg::between(nearer[here], nearer[there], later);
}

/// For a block of the first plane, each thread has one column of its pixels, so that threads of
/// neighbouring blocks have neighbouring pixels. Blocks of other planes are skipped.
HEADWAY_KERNEL(jpeg_pixels, 256, DecodeJpegBlocks) {
  const std::int64_t blocks = jpeg::blocks_of(a.pictures, a.images);
  for (std::int64_t number = global_thread() / kSide; number < blocks;
       number += global_threads() / kSide) {
    const jpeg::Place place = jpeg::place_of(a.pictures, a.images, number);
    if (place.plane > 0) continue;
    const JpegPicture& picture = a.pictures[place.image];
    const int wide = picture.plane[0].blocks_wide;
    const int top = place.block / wide * kSide;
    const int x = place.block % wide * kSide + threadIdx.x % kSide;
    if (x >= picture.width) continue;
    for (int y = top; y < top + kSide && y < picture.height; ++y) {
      std::uint8_t* const rgb =
          a.to + picture.to + (static_cast<std::int64_t>(y) * picture.width + x) * 3;
      const int luma = sample_at(a, picture, picture.plane[0], y, x);
      if (picture.planes == 1) {
        rgb[0] = rgb[1] = rgb[2] = static_cast<std::uint8_t>(luma);
      } else {
        jpeg::to_rgb(luma, sample_at(a, picture, picture.plane[1], y, x),
                     sample_at(a, picture, picture.plane[2], y, x), rgb);
      }
    }
  }
}

}  // namespace headway::kernels::cuda
