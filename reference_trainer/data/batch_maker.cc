// SPDX-License-Identifier: MIT
#include "reference_trainer/data/batch_maker.h"

#include <cstring>

#include "reference_trainer/data/loader.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {
namespace {

using conventions::RangeKind;

/// Makes batches of images with one label each.
class ImageMaker final : public BatchMaker {
 public:
  ImageMaker(SampleSource& source, const LoaderOptions& options)
      : source_(source), options_(options) {}

  void make(Batch& batch, std::int64_t epoch, std::span<const std::int64_t> samples) override {
    const std::size_t rows = samples.size();
    const std::size_t area = size(options_.height, options_.width);
    const std::size_t decoded =
        pictures() ? size(options_.canvas_height, options_.canvas_width) : area;
    const auto float_bytes = static_cast<std::int64_t>(rows * area * sizeof(float));
    nvtx::Range whole(batch_, stage_payload(RangeKind::kBatch, batch.id, float_bytes));
    {
      nvtx::Range stage(read_, stage_payload(RangeKind::kRead, batch.id, source_.bytes(samples)));
      source_.read(samples, encoded_);
    }
    {
      const auto bytes = static_cast<std::int64_t>(rows * decoded);
      nvtx::Range stage(decode_, stage_payload(RangeKind::kDecode, batch.id, bytes));
      pixels_.resize(rows * decoded);
      for (std::size_t i = 0; i < rows; ++i)
        source_.decode(encoded_.samples[i], std::span(pixels_).subspan(i * decoded, decoded));
    }
    {
      nvtx::Range stage(augment_, stage_payload(RangeKind::kAugment, batch.id, float_bytes));
      floats_.resize(rows * area);
      for (std::size_t i = 0; i < rows; ++i)
        change(epoch, samples[i], std::span(pixels_).subspan(i * decoded, decoded),
               std::span(floats_).subspan(i * area, area));
    }
    nvtx::Range stage(collate_, stage_payload(RangeKind::kCollate, batch.id, float_bytes));
    std::memcpy(batch.images.as<float>(), floats_.data(), static_cast<std::size_t>(float_bytes));
    auto* labels = batch.labels.as<std::int32_t>();
    for (std::size_t i = 0; i < rows; ++i) labels[i] = encoded_.samples[i].label;
    for (std::int64_t row = batch.rows; row < options_.batch; ++row) labels[row] = -1;
  }

 private:
  bool pictures() const { return options_.channels == 3; }
  std::size_t size(int height, int width) const {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
           static_cast<std::size_t>(options_.channels);
  }
  void change(std::int64_t epoch, std::int64_t sample, std::span<const std::uint8_t> from,
              std::span<float> to) const {
    Random random(options_.seed, static_cast<std::uint64_t>(epoch),
                  static_cast<std::uint64_t>(sample));
    if (pictures()) {
      augment_picture(options_.pictures, random, from, options_.canvas_height,
                      options_.canvas_width, options_.height, options_.width, to);
    } else {
      augment(options_.augmentation, random, from, options_.height, options_.width, to);
    }
  }

  SampleSource& source_;
  const LoaderOptions& options_;
  const nvtx::Name batch_ = nvtx::intern("batch");
  const nvtx::Name read_ = nvtx::intern("read");
  const nvtx::Name decode_ = nvtx::intern("decode");
  const nvtx::Name augment_ = nvtx::intern("augment");
  const nvtx::Name collate_ = nvtx::intern("collate");
  EncodedBatch encoded_;
  std::vector<std::uint8_t> pixels_;
  std::vector<float> floats_;
};

}  // namespace

conventions::RangePayload stage_payload(RangeKind kind, std::int64_t batch, std::int64_t bytes) {
  conventions::RangePayload result;
  result.kind = static_cast<std::uint32_t>(kind);
  result.phase = static_cast<std::uint32_t>(Phase::kInput);
  result.batch = batch;
  result.bytes = bytes;
  return result;
}

bool has_stage(const LoaderOptions& options, BoxStage stage) {
  if (stage == BoxStage::kEncode) return options.boxes.encoder != nullptr;
  const bool by_chance =
      stage == BoxStage::kCrop || stage == BoxStage::kFlip || stage == BoxStage::kJitter;
  const bool of_pixels =
      stage == BoxStage::kResize || stage == BoxStage::kJitter || stage == BoxStage::kNormalise;
  if (of_pixels && options.packed) return false;
  return options.pictures.random || !by_chance;
}

std::unique_ptr<BatchMaker> make_batch_maker(SampleSource& source, const LoaderOptions& options) {
  if (options.boxes.of) return make_box_maker(source, options);
  if (options.packed) return make_packed_maker(source, options);
  return std::make_unique<ImageMaker>(source, options);
}

}  // namespace headway::trainer
