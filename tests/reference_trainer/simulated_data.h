// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "reference_trainer/data/pairs.h"
#include "reference_trainer/data/source.h"
#include "reference_trainer/data/text.h"
#include "reference_trainer/train/trainer.h"

namespace headway::test {

/// What a simulated run trains on: images that only such a run can read (a number, and their sizes
/// in storage), or generated text.
class SimulatedData final : public trainer::SampleSource {
 public:
  explicit SimulatedData(const trainer::Settings& settings)
      : count_(settings.samples > 0 ? settings.samples : 4000),
        bytes_(settings.source == trainer::SourceKind::kMemory ? 0 : 400) {
    if (settings.model == trainer::ModelKind::kTransformer)
      text_ = trainer::generate_text(1, 200'000);
    if (settings.model == trainer::ModelKind::kGnmt)
      pairs_ = trainer::generate_pairs(1, 2000, settings.sequence);
  }

  std::int64_t count() const override { return count_; }
  std::int64_t bytes(std::span<const std::int64_t> samples) const override {
    return static_cast<std::int64_t>(samples.size()) * bytes_;
  }
  void read(std::span<const std::int64_t>, trainer::EncodedBatch&) override {}
  void decode(const trainer::EncodedBatch::Sample&, std::span<std::uint8_t>) const override {}

  trainer::TrainingData data() {
    trainer::TrainingData data;
    data.train = this;
    if (text_) data.train_text = &text_->train;
    if (pairs_) data.train_pairs = &pairs_->train;
    data.height = 28;
    data.width = 28;
    data.classes = 10;
    return data;
  }

 private:
  const std::int64_t count_;
  const std::int64_t bytes_;
  std::optional<trainer::TrainAndTestText> text_;
  std::optional<trainer::TrainAndTestPairs> pairs_;
};

}  // namespace headway::test
