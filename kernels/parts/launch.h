// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// Largest number of parts of one table.
inline constexpr int kMostParts = 16;

struct Part {
  void* at = nullptr;         ///< [images][elements]
  std::int64_t elements = 0;  ///< per image
};
struct PartsParameters {
  std::int64_t images;
  std::int64_t row;  ///< elements of an image in the table, over all parts
  int parts;
  void* part[kMostParts];
  std::int64_t begin[kMostParts + 1];  ///< in a row of the table
  void* table;
  bool packed;
};

/// Joins, image by image, the elements of all parts: table [images][sum of elements]. One image:
/// arrays end to end. Nothing is rounded.
Launch join_parts(const Limits& limits, NumberFormat format, std::int64_t images,
                  std::span<const Part> parts, void* table);
/// Copies the parts of a table to their own arrays.
Launch split_parts(const Limits& limits, NumberFormat format, std::int64_t images,
                   std::span<const Part> parts, const void* table);

}  // namespace headway::kernels::cuda
