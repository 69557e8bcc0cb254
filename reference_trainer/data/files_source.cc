// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <fstream>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/png.h"
#include "reference_trainer/data/sampler.h"
#include "reference_trainer/data/source.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

struct File {
  std::string name;
  int label = 0;
  std::int64_t bytes = 0;
};

/// Reads a block's index and checks it against what the block must hold.
std::vector<File> read_index(const fs::path& path, std::int64_t count, int height, int width) {
  std::ifstream stream(path);
  const std::string place = escape_terminal(path.string());
  if (!stream) fail_input("{}: cannot open. Delete the folder; it is made again.", place);
  std::string word;
  int version = 0;
  std::int64_t got_count = 0;
  int got_height = 0;
  int got_width = 0;
  stream >> word >> version >> got_count >> got_height >> got_width;
  if (!stream || word != "headway-images" || version != 1)
    fail_input("{}: not an index of version 1. Delete the folder; it is made again.", place);
  if (got_count != count || got_height != height || got_width != width)
    fail_input("{}: {} images of {}x{}, expected {} of {}x{}. Delete the folder; it is made again.",
               place, got_count, got_height, got_width, count, height, width);
  std::vector<File> files;
  for (File file; stream >> file.name >> file.label >> file.bytes;) files.push_back(file);
  if (static_cast<std::int64_t>(files.size()) != count)
    fail_input("{}: lists {} images, expected {}. Delete the folder; it is made again.", place,
               files.size(), count);
  return files;
}

class FilesSource final : public SampleSource {
 public:
  FilesSource(const fs::path& folder, std::int64_t count, int height, int width, Storage& storage)
      : height_(height), width_(width), storage_(storage) {
    for (std::int64_t begin = 0; begin < count; begin += Sampler::kBlock) {
      const std::int64_t size = std::min(Sampler::kBlock, count - begin);
      const std::int64_t block = begin / Sampler::kBlock;
      folders_.push_back(folder / (size == Sampler::kBlock ? fmt::format("{:05}", block)
                                                           : fmt::format("{:05}-{}", block, size)));
      for (File& file : read_index(folders_.back() / "index.txt", size, height, width))
        files_.push_back(std::move(file));
    }
  }

  std::int64_t count() const override { return static_cast<std::int64_t>(files_.size()); }

  std::int64_t bytes(std::span<const std::int64_t> samples) const override {
    std::int64_t sum = 0;
    for (std::int64_t sample : samples) sum += files_[static_cast<std::size_t>(sample)].bytes;
    return sum;
  }

  void read(std::span<const std::int64_t> samples, EncodedBatch& into) override {
    into.samples.clear();
    into.files.resize(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const File& file = files_[static_cast<std::size_t>(samples[i])];
      const fs::path path =
          folders_[static_cast<std::size_t>(samples[i] / Sampler::kBlock)] / file.name;
      storage_.read_file(path, into.files[i]);
      into.samples.push_back({into.files[i], file.label, path.string()});
    }
  }

  void decode(const EncodedBatch::Sample& sample, std::span<std::uint8_t> pixels) const override {
    decode_png(sample.bytes, height_, width_, pixels, sample.origin);
  }

 private:
  const int height_;
  const int width_;
  Storage& storage_;
  std::vector<fs::path> folders_;
  std::vector<File> files_;
};

}  // namespace

std::unique_ptr<SampleSource> open_files(const fs::path& folder, std::int64_t count, int height,
                                         int width, Storage& storage) {
  return std::make_unique<FilesSource>(folder, count, height, width, storage);
}

}  // namespace headway::trainer
