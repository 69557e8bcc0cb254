// SPDX-License-Identifier: MIT
// Makes batches of images with boxes: the input pipeline of SSD (Liu et al., 2016), with the stages
// in the same order as in NVIDIA DALI.
#include <algorithm>
#include <cstring>
#include <optional>

#include "common/error.h"
#include "reference_trainer/data/batch_maker.h"
#include "reference_trainer/data/loader.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {
namespace {

using conventions::RangeKind;

class BoxMaker final : public BatchMaker {
 public:
  BoxMaker(SampleSource& source, const LoaderOptions& options)
      : source_(source), options_(options) {
    for (const BoxStageName& each : kBoxStages) names_.push_back(nvtx::intern(each.name));
    if (options.packed) packed_.emplace(*options.packed);
  }

  void make(Batch& batch, std::int64_t epoch, std::span<const std::int64_t> samples) override {
    images_.resize(samples.size());
    if (packed_) {
      packed_->begin(batch);
    } else {
      pixels_.resize(samples.size() * area());
      floats_.resize(samples.size() * area());
    }
    nvtx::Range whole(batch_name_, stage_payload(RangeKind::kBatch, batch.id,
                                                 packed_ ? image_bytes() : float_bytes()));
    run(batch, BoxStage::kRead, source_.bytes(samples), [&] { source_.read(samples, encoded_); });
    reset_images(epoch, samples);
    run(batch, BoxStage::kDecode, image_bytes(), [&] { decode(); });
    run(batch, BoxStage::kCrop, box_bytes(), [&] { crop(); });
    run(batch, BoxStage::kResize, pixel_bytes(), [&] { resize_parts(); });
    run(batch, BoxStage::kFlip, packed_ ? box_bytes() : pixel_bytes(), [&] { flip(); });
    if (!packed_ && !has_stage(options_, BoxStage::kJitter))
      std::ranges::copy(pixels_, floats_.begin());
    run(batch, BoxStage::kJitter, float_bytes(), [&] { jitter(); });
    run(batch, BoxStage::kNormalise, float_bytes(), [&] {
      kernels::normalise_colours(options_.pictures.mean, options_.pictures.deviation, floats_);
    });
    run(batch, BoxStage::kEncode, target_bytes(), [&] { encode(); });
    run(batch, BoxStage::kCollate, collated_bytes() + target_bytes(), [&] { collate(batch); });
  }

 private:
  /// The state of one image between stages. Each stage that is random draws from `random`.
  struct Image {
    Picture picture;
    Box part{0, 0, 1, 1, 0};  ///< the crop, as fractions of the picture
    std::vector<Box> boxes;   ///< as fractions of `part`
    bool mirrored = false;
    Random random{0};
  };

  /// Runs a stage in its NVTX range, unless the options leave it to the device.
  template <class Work>
  void run(const Batch& batch, BoxStage stage, std::int64_t bytes, const Work& work) {
    if (!has_stage(options_, stage)) return;
    const auto number = static_cast<std::size_t>(stage);
    nvtx::Range range(names_[number], stage_payload(kBoxStages[number].kind, batch.id, bytes));
    work();
  }

  std::size_t area() const {
    return static_cast<std::size_t>(options_.height) * static_cast<std::size_t>(options_.width) * 3;
  }
  std::span<std::uint8_t> pixels(std::size_t i) {
    return std::span(pixels_).subspan(i * area(), area());
  }
  std::span<float> floats(std::size_t i) { return std::span(floats_).subspan(i * area(), area()); }
  std::int64_t pixel_bytes() const { return static_cast<std::int64_t>(pixels_.size()); }
  std::int64_t float_bytes() const { return 4 * pixel_bytes(); }
  std::int64_t image_bytes() const {
    return packed_ ? options_.packed->usual_payload : pixel_bytes();
  }
  std::int64_t collated_bytes() const {
    return packed_ ? options_.packed->places().payload : float_bytes();
  }
  std::int64_t box_bytes() const {
    std::size_t count = 0;
    for (const Image& image : images_) count += image.boxes.size();
    return static_cast<std::int64_t>(count * sizeof(Box));
  }
  /// Four bytes for a label and sixteen for four offsets.
  std::int64_t target_bytes() const { return 20 * options_.batch * options_.boxes.per_image(); }

  void reset_images(std::int64_t epoch, std::span<const std::int64_t> samples) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      images_[i].random = Random(options_.seed, static_cast<std::uint64_t>(epoch),
                                 static_cast<std::uint64_t>(samples[i]));
      images_[i].boxes = (*options_.boxes.of)[static_cast<std::size_t>(samples[i])];
      images_[i].part = {0, 0, 1, 1, 0};
      images_[i].mirrored = false;
    }
  }

  void decode() {
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const EncodedBatch::Sample& sample = encoded_.samples[i];
      if (packed_ && options_.packed->kind == PackedFormat::Kind::kJpegs) {
        packed_->add_jpeg(sample.bytes, sample.origin);
      } else if (packed_) {
        packed_->add_picture(source_.decode_whole(sample), sample.origin);
      } else {
        images_[i].picture = source_.decode_whole(sample);
      }
    }
  }

  void crop() {
    for (Image& image : images_) {
      image.part = random_iou_crop(image.boxes, image.random);
      image.boxes = crop_boxes(image.boxes, image.part);
    }
  }

  void resize_parts() {
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const Picture& picture = images_[i].picture;
      resize(picture.rgb, picture.height, picture.width, images_[i].part, options_.height,
             options_.width, pixels(i));
    }
  }

  void flip() {
    for (std::size_t i = 0; i < images_.size(); ++i) {
      images_[i].mirrored = choose_mirror(images_[i].random);
      if (!images_[i].mirrored) continue;
      if (!packed_) kernels::mirror_picture(pixels(i), options_.width);
      flip_boxes(images_[i].boxes);
    }
  }

  void jitter() {
    for (std::size_t i = 0; i < images_.size(); ++i)
      kernels::change_colours(choose_colours(options_.pictures.jitter, images_[i].random),
                              pixels(i), floats(i));
  }

  void encode() {
    const std::size_t anchors = options_.boxes.encoder->count();
    labels_.resize(images_.size() * anchors);
    targets_.resize(labels_.size() * 4);
    for (std::size_t i = 0; i < images_.size(); ++i)
      options_.boxes.encoder->encode(images_[i].boxes,
                                     std::span(labels_).subspan(i * anchors, anchors),
                                     std::span(targets_).subspan(4 * i * anchors, 4 * anchors));
  }

  void collate(Batch& batch) {
    if (packed_) {
      pack();
    } else {
      std::ranges::copy(floats_, batch.images.as<float>());
    }
    if (!options_.boxes.encoder) copy_padded_boxes();
    auto* const labels = batch.labels.as<std::int32_t>();
    std::ranges::copy(labels_, labels);
    std::ranges::copy(targets_, batch.boxes.as<float>());
    // The last batch of an epoch may be shorter: mark its unused rows.
    std::fill(labels + labels_.size(), labels + options_.batch * options_.boxes.per_image(), -1);
  }

  /// Writes the transforms of each image into the packed batch. The device applies them.
  void pack() {
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const kernels::PicturePart& picture = packed_->picture(i);
      kernels::PicturePart part = part_of(images_[i].part, picture.height, picture.width);
      part.mirrored = images_[i].mirrored ? 1 : 0;
      packed_->crop(i, part);
      if (options_.pictures.random)
        packed_->recolour(i, choose_colours(options_.pictures.jitter, images_[i].random));
    }
    packed_->end();
  }

  /// Without an encoder: each image's boxes, padded to the same number per image.
  void copy_padded_boxes() {
    const auto places = static_cast<std::size_t>(options_.boxes.places);
    labels_.assign(images_.size() * places, -1);
    targets_.assign(labels_.size() * 4, 0);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      HEADWAY_INVARIANT(images_[i].boxes.size() <= places);
      std::size_t at = i * places;
      for (const Box& box : images_[i].boxes) {
        const float edges[] = {box.left, box.top, box.right, box.bottom};
        std::ranges::copy(edges, &targets_[4 * at]);
        labels_[at++] = box.label;
      }
    }
  }

  SampleSource& source_;
  const LoaderOptions& options_;
  const nvtx::Name batch_name_ = nvtx::intern("batch");
  std::vector<nvtx::Name> names_;  // by index in kBoxStages
  EncodedBatch encoded_;
  std::optional<PackedBatch> packed_;  // set if the device transforms the images
  std::vector<Image> images_;
  std::vector<std::uint8_t> pixels_;  // of the batch, after resizing
  std::vector<float> floats_;         // the same pixels, after colour changes
  std::vector<std::int32_t> labels_;
  std::vector<float> targets_;
};

}  // namespace

std::unique_ptr<BatchMaker> make_box_maker(SampleSource& source, const LoaderOptions& options) {
  return std::make_unique<BoxMaker>(source, options);
}

}  // namespace headway::trainer
