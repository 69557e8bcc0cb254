// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reference_trainer/data/layout.h"
#include "reference_trainer/data/source.h"
#include "reference_trainer/data/storage.h"

namespace headway::trainer {

/// JPEG and PNG files of any size, one folder per class.
struct PictureSet {
  struct File {
    std::filesystem::path path;  ///< below the root
    std::uint8_t label = 0;
    std::int64_t bytes = 0;
  };
  std::filesystem::path root;
  std::string name;         ///< "pictures-1a2b3c4d": also the name of its folder in the cache
  std::string description;  ///< for people
  std::vector<std::string> classes;
  std::vector<File> files;
};

/// The size to which images are decoded, [height][width][3], before a random part of them is used.
struct Canvas {
  int height = 0;
  int width = 0;
  bool whole = false;  ///< use all of the image, stretched, instead of its middle
};

/// FNV-1a hash: used for names of caches, and for an order of files that does not depend on the
/// folder's order.
std::uint64_t fnv1a(std::string_view text, std::uint64_t value = 0xCBF29CE484222325);

/// Lists the pictures below `root`, mixed so that the first ones are of all classes; the same files
/// give the same list. Every tenth is for testing (`test`), the others for training. Takes at most
/// `most` files; 0: all. Files of other kinds are left out. Throws Error (bad input) when there are
/// no pictures, or only one class.
PictureSet list_pictures(const std::filesystem::path& root, bool test, std::int64_t most);

/// Writes coloured shapes on backgrounds as JPEG files of 120 to 400 pixels a side, in ten classes,
/// once, to a folder below `cache`; returns the folder. Used where no pictures are installed.
std::filesystem::path generate_pictures(std::uint64_t seed, std::int64_t count,
                                        const std::filesystem::path& cache,
                                        const LayoutProgress& progress);

/// Reads the picture files themselves.
std::unique_ptr<SampleSource> open_picture_files(const PictureSet& set, Canvas canvas,
                                                 Storage& storage);
/// Packs the pictures into shards of 1000, as encoded files or (`decoded`) as pixels of a canvas;
/// returns the folder. See lay_out_shards.
std::filesystem::path lay_out_picture_shards(const PictureSet& set, Canvas canvas, bool decoded,
                                             const std::filesystem::path& cache,
                                             const LayoutProgress& progress);
std::unique_ptr<SampleSource> open_picture_shards(const std::filesystem::path& folder,
                                                  std::int64_t count, Canvas canvas, bool decoded,
                                                  Storage& storage, int workers);

}  // namespace headway::trainer
