// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "reference_trainer/data/boxes.h"
#include "reference_trainer/data/picture_folder.h"

namespace headway::trainer {

/// Pictures with the boxes of the objects in them.
struct BoxSet {
  PictureSet pictures;                  ///< the `label` of the files is not used
  std::vector<std::vector<Box>> boxes;  ///< by file; `label` is the index of the class in `classes`
  /// The largest number of boxes in one picture.
  std::int64_t most_boxes() const;
};

/// Reads `root/annotations.json`, in the format of COCO's instances: "images" (id, file_name below
/// `root`, width, height), "annotations" (image_id, category_id, bbox [x, y, width, height] in
/// pixels), "categories" (id, name); other fields are ignored. Crowds, boxes without extent and
/// pictures without boxes are left out. Every tenth picture is for testing (`test`), the others for
/// training. Takes at most `most` pictures; 0: all. Throws Error (bad input) naming the file and
/// the entry when something is missing, damaged or contradicts the rest.
BoxSet read_boxes(const std::filesystem::path& root, bool test, std::int64_t most);

/// The name of the file that read_boxes() looks for.
inline constexpr const char* kAnnotations = "annotations.json";

}  // namespace headway::trainer
