// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/images.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrainImages = "train-images-idx3-ubyte.gz";
constexpr const char* kTrainLabels = "train-labels-idx1-ubyte.gz";
constexpr const char* kTestImages = "t10k-images-idx3-ubyte.gz";
constexpr const char* kTestLabels = "t10k-labels-idx1-ubyte.gz";
constexpr int kClasses = 10;

/// Identifies the data that the files in the cache were made from.
unsigned long checksum(const fs::path& path, unsigned long crc) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(1 << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())), file.gcount() > 0)
    crc =
        crc32(crc, reinterpret_cast<const Bytef*>(block.data()), static_cast<uInt>(file.gcount()));
  return crc;
}

ImageSet load_half(const fs::path& folder, const char* images_name, const char* labels_name) {
  IdxArray images = read_idx(folder / images_name, 3);
  IdxArray labels = read_idx(folder / labels_name, 1);
  const std::string place = escape_terminal(folder.string());
  if (images.extents[0] != labels.extents[0])
    fail_input("{}: {} holds {} images but {} holds {} labels; the files do not belong together.",
               place, images_name, images.extents[0], labels_name, labels.extents[0]);
  const auto wrong =
      std::ranges::find_if(labels.bytes, [](auto label) { return label >= kClasses; });
  if (wrong != labels.bytes.end())
    fail_input("{}/{}: label {} of image {} is not in 0..{}.", place, labels_name, *wrong,
               wrong - labels.bytes.begin(), kClasses - 1);
  if (images.extents[1] > 256 || images.extents[2] > 256)
    fail_input("{}/{}: images of {}x{} pixels; at most 256x256 are supported.", place, images_name,
               images.extents[1], images.extents[2]);
  ImageSet set;
  set.height = static_cast<int>(images.extents[1]);
  set.width = static_cast<int>(images.extents[2]);
  set.classes = kClasses;
  set.pixels = std::move(images.bytes);
  set.labels = std::move(labels.bytes);
  set.name = fmt::format("fashion-mnist-{:08x}",
                         checksum(folder / labels_name, checksum(folder / images_name, 0)));
  set.description = fmt::format("Fashion-MNIST from {}", place);
  return set;
}

}  // namespace

bool has_fashion_mnist(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kTrainImages, ignored);
}

TrainAndTest load_fashion_mnist(const fs::path& folder) {
  return {load_half(folder, kTrainImages, kTrainLabels),
          load_half(folder, kTestImages, kTestLabels)};
}

}  // namespace headway::trainer
