// SPDX-License-Identifier: MIT
#include "kernels/jpeg_blocks/op.h"

#include <algorithm>
#include <vector>

#include "kernels/jpeg_blocks/places.h"
#include "kernels/loops/jpeg_arithmetic.h"
#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

constexpr std::int64_t kBlockGrain = kFlatGrain / 64;

/// Calls piece(picture, number of the plane, begin, end) for the blocks of each plane that lie in
/// [begin, end) of all blocks.
template <class Piece>
void for_each_plane(const DecodeJpegBlocks& op, std::int64_t begin, std::int64_t end,
                    const Piece& piece) {
  while (begin < end) {
    const jpeg::Place place = jpeg::place_of(op.pictures, op.images, begin);
    const JpegPicture& picture = op.pictures[place.image];
    const std::int64_t blocks = std::min<std::int64_t>(
        end - begin, jpeg::blocks_of(picture.plane[place.plane]) - place.block);
    piece(picture, place.plane, place.block, place.block + blocks);
    begin += blocks;
  }
}

void make_samples(const DecodeJpegBlocks& op, const JpegPlane& plane, std::int64_t begin,
                  std::int64_t end) {
  const std::int64_t row = 8 * std::int64_t{plane.blocks_wide};
  while (begin < end) {
    const std::int64_t down = begin / plane.blocks_wide, across = begin % plane.blocks_wide;
    const std::int64_t count = std::min(end - begin, plane.blocks_wide - across);
    loops().jpeg_samples(count, op.coefficients + plane.offset + 64 * begin, plane.steps,
                         op.samples + plane.offset + 8 * down * row + 8 * across, row);
    begin += count;
  }
}

/// The samples of a plane for the pixels of row y: stored samples, or interpolated ones in
/// `memory`.
const std::uint8_t* samples_of_row(const DecodeJpegBlocks& op, const JpegPicture& picture,
                                   const JpegPlane& plane, int y, std::uint8_t* memory) {
  const std::uint8_t* const samples = op.samples + plane.offset;
  const std::int64_t row = 8 * std::int64_t{plane.blocks_wide};
  const std::uint8_t* const nearer = samples + y / plane.rows_per_sample * row;
  if (plane.rows_per_sample == 1 && plane.columns_per_sample == 1) return nearer;
  JpegSampleRows rows;
  rows.samples = jpeg::samples_along(picture.width, plane.columns_per_sample);
  rows.nearer = nearer;
  if (plane.rows_per_sample == 2)
    rows.farther = samples + jpeg::farther_of(y, jpeg::samples_along(picture.height, 2)) * row;
  rows.later = y % 2 == 1;
  rows.columns_per_sample = plane.columns_per_sample;
  rows.repeat = jpeg::repeats(picture, plane);
  loops().jpeg_widen(rows, memory);
  return memory;
}

/// Computes the rows of pixels from `begin` to `end`. `memory` is reused from call to call.
void make_pixels(const DecodeJpegBlocks& op, const JpegPicture& picture, int begin, int end,
                 std::vector<std::uint8_t>& memory) {
  const auto width = static_cast<std::size_t>(picture.width);
  if (memory.size() < 2 * (width + 1)) memory.resize(2 * (width + 1));
  for (int y = begin; y < end; ++y) {
    const std::uint8_t* rows[3] = {};
    for (int p = 0; p < picture.planes; ++p)
      rows[p] = samples_of_row(op, picture, picture.plane[p], y,
                               p == 2 ? memory.data() + width + 1 : memory.data());
    loops().jpeg_colours(picture.width, rows[0], rows[1], rows[2],
                         op.to + picture.to + std::int64_t{3} * y * picture.width);
  }
}

}  // namespace

void run(const DecodeJpegBlocks& op) {
  if (op.images == 0) return;
  const std::int64_t blocks = jpeg::blocks_of(op.pictures, op.images);
  parallel_for(blocks, kBlockGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for_each_plane(op, begin, end,
                   [&](const JpegPicture& picture, int plane, std::int64_t from, std::int64_t to) {
                     make_samples(op, picture.plane[plane], from, to);
                   });
  });
  // A block at the left edge of the first plane stands for the rows of pixels beside it.
  parallel_for(blocks, kBlockGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint8_t> memory;
    for_each_plane(op, begin, end,
                   [&](const JpegPicture& picture, int plane, std::int64_t from, std::int64_t to) {
                     if (plane > 0) return;
                     const std::int64_t wide = picture.plane[0].blocks_wide;
                     auto first_row = [&](std::int64_t block) {
                       return static_cast<int>(
                           std::min<std::int64_t>(picture.height, (block + wide - 1) / wide * 8));
                     };
                     make_pixels(op, picture, first_row(from), first_row(to), memory);
                   });
  });
}

}  // namespace headway::kernels
