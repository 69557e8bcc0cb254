// SPDX-License-Identifier: MIT
#include "reference_trainer/data/picture_sizes.h"

#include <algorithm>
#include <fstream>
#include <functional>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/jpeg_coefficients.h"
#include "reference_trainer/data/picture.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

/// The beginning of a file, read as far as requested and available.
class Beginning {
 public:
  explicit Beginning(const fs::path& path) : file_(path, std::ios::binary) {
    if (!file_) fail_input("{}: cannot read the picture.", escape_terminal(path.string()));
  }
  /// Reads until there are `bytes` bytes in total; returns false when the file has no more.
  bool read(std::size_t bytes) {
    const std::size_t before = bytes_.size();
    bytes_.resize(bytes);
    file_.read(reinterpret_cast<char*>(bytes_.data()) + before,
               static_cast<std::streamsize>(bytes - before));
    bytes_.resize(before + static_cast<std::size_t>(file_.gcount()));
    return bytes_.size() > before;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::ifstream file_;
  std::vector<std::byte> bytes_;
};

struct Size {
  std::int64_t pixels;
  std::int64_t coefficients;
};

Size measure(const fs::path& path, bool coefficients) {
  constexpr std::size_t kUsualHeader = 16 * 1024;
  Beginning file(path);
  const std::string origin = path.string();
  for (std::size_t bytes = kUsualHeader; file.read(bytes); bytes *= 4) {
    if (!coefficients) {
      if (const auto extent = picture_extent(file.bytes(), origin)) return {extent->rgb_bytes(), 0};
    } else if (const auto extent = jpeg_extent(file.bytes(), origin)) {
      return {3 * extent->pixels(), 2 * extent->coefficients()};
    }
  }
  fail_input("{}: the file ends in its header. Replace or remove it.", escape_terminal(origin));
}

}  // namespace

PictureSizes measure_pictures(const PictureSet& set, bool coefficients) {
  PictureSizes sizes;
  for (const PictureSet::File& file : set.files) {
    const Size size = measure(set.root / file.path, coefficients);
    sizes.pixels.push_back(size.pixels);
    if (coefficients) sizes.coefficients.push_back(size.coefficients);
  }
  std::ranges::sort(sizes.pixels, std::greater());
  std::ranges::sort(sizes.coefficients, std::greater());
  return sizes;
}

}  // namespace headway::trainer
