// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "reference_trainer/data/source.h"
#include "reference_trainer/train/trainer.h"

namespace headway::test {

/// Images that only a simulated run can read: a number, and their sizes in storage.
class SimulatedImages final : public trainer::SampleSource {
 public:
  explicit SimulatedImages(const trainer::Settings& settings)
      : count_(settings.samples > 0 ? settings.samples : 4000),
        bytes_(settings.source == trainer::SourceKind::kMemory ? 0 : 400) {}

  std::int64_t count() const override { return count_; }
  std::int64_t bytes(std::span<const std::int64_t> samples) const override {
    return static_cast<std::int64_t>(samples.size()) * bytes_;
  }
  void read(std::span<const std::int64_t>, trainer::EncodedBatch&) override {}
  void decode(const trainer::EncodedBatch::Sample&, std::span<std::uint8_t>) const override {}

  trainer::TrainingData data() {
    trainer::TrainingData data;
    data.train = this;
    data.height = 28;
    data.width = 28;
    data.classes = 10;
    return data;
  }

 private:
  const std::int64_t count_;
  const std::int64_t bytes_;
};

}  // namespace headway::test
