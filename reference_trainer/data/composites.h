// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>

#include "reference_trainer/data/layout.h"
#include "reference_trainer/data/picture_folder.h"

namespace headway::trainer {

/// Pictures put together from objects on backgrounds, so that every box is exact.
struct CompositeOptions {
  std::uint64_t seed = 1;
  std::int64_t count = 2000;
  const PictureSet* objects = nullptr;  ///< PNGs with transparency; null: generated shapes
};

/// Writes JPEGs of 200 to 400 pixels a side with one to six objects each, and their boxes in COCO's
/// format (annotations.json, see box_folder.h), once, to a folder below `cache`; returns the
/// folder. The same options give the same files. A box is the smallest rectangle around the
/// object's visible pixels, including those that a later object hides. Throws Error (bad input)
/// when a picture is damaged or the cache cannot be written.
std::filesystem::path write_composites(const CompositeOptions& options,
                                       const std::filesystem::path& cache,
                                       const LayoutProgress& progress);

}  // namespace headway::trainer
