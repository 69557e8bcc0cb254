// SPDX-License-Identifier: MIT
// Chooses the loader of a run's batches.
#include <algorithm>

#include "reference_trainer/data/loader.h"
#include "reference_trainer/data/pair_loader.h"
#include "reference_trainer/data/text_loader.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {
namespace {

/// Options common to the training loaders of all kinds.
template <class Options>
void set_training(Options& options, const Settings& s, const BatchesWanted& wanted) {
  options.in_use = wanted.in_use;
  options.memory = s.pinned ? MemoryKind::kPinned : MemoryKind::kPageable;
  options.shuffle = s.shuffle;
  options.batches = wanted.batches;
  options.seed = static_cast<std::uint64_t>(s.seed);
  options.rank = wanted.rank;
  options.ranks = wanted.ranks;
}

/// Options common to training and test loaders of images.
LoaderOptions image_options(const Settings& s, const TrainingData& data, const BoxSet* boxes) {
  LoaderOptions options;
  options.batch = s.batch;
  options.height = data.height;
  options.width = data.width;
  options.channels = data.channels;
  options.canvas_height = data.canvas_height;
  options.canvas_width = data.canvas_width;
  if (!boxes) return options;
  options.boxes.of = &boxes->boxes;
  options.boxes.places = box_places(data);
  if (s.assign == Assign::kLoader)
    options.boxes.encoder = std::make_shared<const BoxEncoder>(ssd_feature_maps(data.height));
  return options;
}

TextLoaderOptions text_options(const Settings& s) {
  TextLoaderOptions options;
  options.batch = s.batch;
  options.length = s.sequence;
  return options;
}

PairLoaderOptions pair_options(const Settings& s) {
  PairLoaderOptions options;
  options.batch = s.batch;
  options.length = s.sequence;
  options.balance = s.balance;
  return options;
}

}  // namespace

std::int64_t box_places(const TrainingData& data) {
  std::int64_t most = 1;
  for (const BoxSet* boxes : {data.train_boxes, data.test_boxes})
    if (boxes) most = std::max(most, boxes->most_boxes());
  return most;
}

std::int64_t sample_count(const Settings& s, const TrainingData& data) {
  if (data.train_pairs) return static_cast<std::int64_t>(data.train_pairs->pairs.size());
  return data.train_text ? data.train_text->sequences(s.sequence) : data.train->count();
}

std::int64_t test_count(const Settings& s, const TrainingData& data) {
  if (data.test_pairs) return static_cast<std::int64_t>(data.test_pairs->pairs.size());
  if (data.test_text) return data.test_text->sequences(s.sequence);
  return data.test ? data.test->count() : 0;
}

std::optional<PackedFormat> packed_format(const Settings& s, const TrainingData& data) {
  if (!s.augment_on_device || !data.train) return std::nullopt;
  PackedFormat format;
  if (data.channels == 1) {
    format = grey_format(s.batch, data.height, data.width);
  } else if (data.sizes) {
    format = picture_format(s.batch, *data.sizes, s.decode == Decode::kDevice);
    // Boxes are found in a whole picture; labelled pictures are resized to their canvas first.
    if (!data.train_boxes) {
      format.canvas_height = data.canvas_height;
      format.canvas_width = data.canvas_width;
    }
  } else {
    format = canvas_format(s.batch, data.canvas_height, data.canvas_width);
  }
  format.height = data.height;
  format.width = data.width;
  format.grey = {s.augment, 2, data.statistics};
  format.colour.random = s.augment;
  return format;
}

std::unique_ptr<BatchSource> open_training_batches(const Settings& s, Device& device,
                                                   const TrainingData& data,
                                                   const BatchesWanted& wanted,
                                                   const MakeLoader& make_loader) {
  if (data.train_text) {
    TextLoaderOptions options = text_options(s);
    set_training(options, s, wanted);
    return std::make_unique<TextLoader>(*data.train_text, device, options);
  }
  if (data.train_pairs) {
    PairLoaderOptions options = pair_options(s);
    set_training(options, s, wanted);
    return std::make_unique<PairLoader>(*data.train_pairs, device, options);
  }
  LoaderOptions options = image_options(s, data, data.train_boxes);
  set_training(options, s, wanted);
  options.workers = static_cast<int>(s.workers);
  options.prefetch = static_cast<int>(s.prefetch);
  options.reuse_workers = s.worker_reuse;
  options.worker_start =
      std::chrono::microseconds(static_cast<std::int64_t>(s.worker_start_ms * 1000));
  options.augmentation = {s.augment, 2, data.statistics};
  options.pictures.random = s.augment;
  options.packed = packed_format(s, data);
  return make_loader ? make_loader(*data.train, options)
                     : std::make_unique<Loader>(*data.train, device, options);
}

std::unique_ptr<BatchSource> open_test_batches(const Settings& s, Device& device,
                                               const TrainingData& data, std::int64_t samples) {
  const std::int64_t batches = (samples + s.batch - 1) / s.batch;
  if (data.test_text) {
    TextLoaderOptions options = text_options(s);
    options.shuffle = false;
    options.keep_last = true;
    options.batches = batches;
    return std::make_unique<TextLoader>(*data.test_text, device, options);
  }
  if (data.test_pairs) {
    PairLoaderOptions options = pair_options(s);
    options.shuffle = false;
    options.keep_last = true;
    options.batches = batches;
    return std::make_unique<PairLoader>(*data.test_pairs, device, options);
  }
  LoaderOptions options = image_options(s, data, data.test_boxes);
  options.pictures.random = false;
  options.shuffle = false;
  options.keep_last = true;
  options.batches = batches;
  options.augmentation = {false, 0, data.statistics};
  return std::make_unique<Loader>(*data.test, device, options);
}

}  // namespace headway::trainer
