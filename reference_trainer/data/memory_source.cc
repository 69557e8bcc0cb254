// SPDX-License-Identifier: MIT
#include <algorithm>

#include "reference_trainer/data/source.h"

namespace headway::trainer {
namespace {

class MemorySource final : public SampleSource {
 public:
  explicit MemorySource(const ImageSet& images) : images_(images) {}

  std::int64_t count() const override { return images_.count(); }
  std::int64_t bytes(std::span<const std::int64_t>) const override { return 0; }

  void read(std::span<const std::int64_t> samples, EncodedBatch& into) override {
    into.samples.clear();
    for (std::int64_t sample : samples)
      into.samples.push_back({std::as_bytes(images_.image(sample)),
                              images_.labels[static_cast<std::size_t>(sample)],
                              {}});
  }

  void decode(const EncodedBatch::Sample& sample, std::span<std::uint8_t> pixels) const override {
    std::ranges::transform(sample.bytes, pixels.begin(),
                           [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  }

 private:
  const ImageSet& images_;
};

}  // namespace

std::unique_ptr<SampleSource> open_memory(const ImageSet& images) {
  return std::make_unique<MemorySource>(images);
}

}  // namespace headway::trainer
