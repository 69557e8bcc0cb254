// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "reference_trainer/data/picture_folder.h"

namespace headway::trainer {

/// Bytes that the pictures of a set take in memory.
struct PictureSizes {
  std::vector<std::int64_t> pixels;  ///< as pixels of 3 bytes, the largest first
  std::vector<std::int64_t>
      coefficients;  ///< as coefficients of JPEGs, likewise; empty where not asked for
};

/// Reads the headers of all files of the set. `coefficients`: a device decodes the files. Throws
/// Error (bad input) naming the file when one is no picture, or a picture that a device cannot
/// decode.
PictureSizes measure_pictures(const PictureSet& set, bool coefficients);

}  // namespace headway::trainer
