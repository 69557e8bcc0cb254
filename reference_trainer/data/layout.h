// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "reference_trainer/data/images.h"

namespace headway::trainer {

/// Called after each block with the number of images done and the total. May throw to stop;
/// finished blocks stay.
using LayoutProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// Both write an image set below `cache/<name of the set>/` in blocks of Sampler::kBlock images and
/// return the folder. A complete block appears by one rename. So an interrupted run continues where
/// it stopped, and several processes may write at once; existing blocks are not touched. Throw
/// Error (bad input) when the cache cannot be written.

/// `train-files/00012/00345.png`, with `index.txt` in each folder: a header line
/// "headway-images 1 <count> <height> <width>", then "<file> <label> <bytes>" per image.
std::filesystem::path lay_out_files(const ImageSet& images, const std::filesystem::path& cache,
                                    const LayoutProgress& progress);
/// `train-shards/00012.shard`: see data/shard.h. `decoded`: raw pixels instead of PNGs, in
/// `train-shards-decoded/`.
std::filesystem::path lay_out_shards(const ImageSet& images, bool decoded,
                                     const std::filesystem::path& cache,
                                     const LayoutProgress& progress);

/// Writes one file, which appears by one rename when it is complete. Throws as the functions above
/// do.
void write_whole_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The content of shards, record by record.
struct ShardContents {
  std::int64_t count = 0;
  int height = 0;  ///< of every image; 0: they differ
  int width = 0;
  std::function<std::vector<std::byte>(std::int64_t)> record;
  std::function<std::uint8_t(std::int64_t)> label;
};
/// Writes shards below `cache/set/kind/`.
std::filesystem::path lay_out_shards(const ShardContents& contents, std::string_view set,
                                     std::string_view kind, const std::filesystem::path& cache,
                                     const LayoutProgress& progress);

}  // namespace headway::trainer
