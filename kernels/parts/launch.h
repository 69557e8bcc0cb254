// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// Most parts of one table.
inline constexpr int kMostParts = 16;

struct Part {
  void* at = nullptr;         ///< [images][elements]
  std::int64_t elements = 0;  ///< of an image
};
struct PartsParameters {
  std::int64_t images;
  std::int64_t row;  ///< elements of an image in the table: those of all parts
  int parts;
  void* part[kMostParts];
  std::int64_t begin[kMostParts + 1];  ///< in a row of the table
  void* table;
  bool packed;
};

/// Image by image the elements of all parts, one part after the other: table [images][sum of elements]. One image:
/// arrays end to end. Nothing is rounded.
Launch join_parts(const Limits& limits, NumberFormat format, std::int64_t images,
                  std::span<const Part> parts, void* table);
/// The parts of a table, each to its own array.
Launch split_parts(const Limits& limits, NumberFormat format, std::int64_t images,
                   std::span<const Part> parts, const void* table);

}  // namespace headway::kernels::cuda
