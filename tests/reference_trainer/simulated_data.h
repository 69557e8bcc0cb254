// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "reference_trainer/data/pairs.h"
#include "reference_trainer/data/source.h"
#include "reference_trainer/data/text.h"
#include "reference_trainer/switches/switches.h"
#include "reference_trainer/train/trainer.h"

namespace headway::test {

/// What a simulated run trains on: images that only such a run can read (a number, and their sizes
/// in storage; of ssd also boxes), or generated text.
class SimulatedData final : public trainer::SampleSource {
 public:
  explicit SimulatedData(const trainer::Settings& settings)
      : count_(settings.samples > 0 ? settings.samples : 4000),
        bytes_(settings.source == trainer::SourceKind::kMemory ? 0 : 400) {
    if (settings.model == trainer::ModelKind::kTransformer)
      text_ = trainer::generate_text(1, 200'000);
    if (settings.model == trainer::ModelKind::kGnmt)
      pairs_ = trainer::generate_pairs(1, 2000, settings.sequence);
    if (settings.model == trainer::ModelKind::kSsd) {
      boxes_.emplace().boxes.assign(static_cast<std::size_t>(count_),
                                    {{0.1F, 0.1F, 0.4F, 0.5F, 1}, {0.5F, 0.4F, 0.9F, 0.9F, 2}});
      size_ = static_cast<int>(settings.image_size);
    }
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
    data.height = size_;
    data.width = size_;
    data.classes = 10;
    if (!boxes_) return data;
    data.train_boxes = &*boxes_;
    data.channels = 3;
    data.canvas_height = size_ * 8 / 7;
    data.canvas_width = size_ * 8 / 7;
    return data;
  }

 private:
  const std::int64_t count_;
  const std::int64_t bytes_;
  std::optional<trainer::TrainAndTestText> text_;
  std::optional<trainer::TrainAndTestPairs> pairs_;
  std::optional<trainer::BoxSet> boxes_;
  int size_ = 28;  ///< pixels a side
};

/// Steps in which a preset's bottleneck shows on the simulated GPU: those that it has there of its own, else 25.
inline std::int64_t enough_steps(const trainer::Preset& preset) {
  const auto own =
      std::ranges::find(preset.simulated, "steps", &trainer::Preset::Values::value_type::first);
  return own == preset.simulated.end() ? 25 : std::stoll(std::string(own->second));
}

}  // namespace headway::test
