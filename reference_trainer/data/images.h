// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace headway::trainer {

/// A labelled set of grey images of one size, decoded, in memory.
struct ImageSet {
  std::string name;         ///< "fashion-mnist-1a2b3c4d": also the name of its folder in the cache
  std::string description;  ///< for people: where it comes from
  int height = 0;
  int width = 0;
  int classes = 0;
  std::vector<std::uint8_t> pixels;  ///< [count][height][width], 0..255
  std::vector<std::uint8_t> labels;  ///< [count], each < classes

  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
  std::int64_t pixels_per_image() const { return std::int64_t{height} * width; }
  std::span<const std::uint8_t> image(std::int64_t index) const {
    return {pixels.data() + index * pixels_per_image(),
            static_cast<std::size_t>(pixels_per_image())};
  }
  /// Drops all but the first `count` images.
  void keep_first(std::int64_t count);
};

struct TrainAndTest {
  ImageSet train;
  ImageSet test;
};

/// Reads a gzipped IDX file of unsigned bytes with `dimensions` dimensions (the format of MNIST and
/// related sets): big-endian magic 0x0000'08'dd, the extents, the bytes. Throws Error (bad input)
/// naming the file when it is missing, truncated, damaged, of another kind, or longer than its
/// header says.
struct IdxArray {
  std::vector<std::int64_t> extents;
  std::vector<std::uint8_t> bytes;
};
IdxArray read_idx(const std::filesystem::path& path, int dimensions);

/// Fashion-MNIST from the four files of Debian's dataset-fashion-mnist in `folder`.
TrainAndTest load_fashion_mnist(const std::filesystem::path& folder);
/// True when the first of the four files is there.
bool has_fashion_mnist(const std::filesystem::path& folder);

/// 28x28 images of ten classes (bars, rings, crosses, ... at random place, size and brightness,
/// with noise) that a small network can learn. Used where no data set is installed. The same seed
/// gives the same images.
TrainAndTest generate_images(std::uint64_t seed, std::int64_t train_count, std::int64_t test_count);

}  // namespace headway::trainer
