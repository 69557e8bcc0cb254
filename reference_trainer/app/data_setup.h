// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "reference_trainer/data/box_folder.h"
#include "reference_trainer/data/images.h"
#include "reference_trainer/data/layout.h"
#include "reference_trainer/data/pairs.h"
#include "reference_trainer/data/picture_folder.h"
#include "reference_trainer/data/picture_sizes.h"
#include "reference_trainer/data/source.h"
#include "reference_trainer/data/storage.h"
#include "reference_trainer/data/text.h"
#include "reference_trainer/switches/settings.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {

/// The images (or the text) of a run and where they are read from. Not movable: sources refer to the sets.
class DataSetup {
 public:
  /// Loads the images and, for files and shards, lays them out in the cache where they are missing.
  /// `note` gets a sentence when generated data stand in for real ones.
  DataSetup(const Settings& settings, const LayoutProgress& progress, std::string& note);
  DataSetup(const DataSetup&) = delete;
  DataSetup& operator=(const DataSetup&) = delete;

  TrainingData data() const;
  std::string description() const;

 private:
  void set_up_images(const Settings& settings, const LayoutProgress& progress, std::string& note);
  void open_images(const Settings& settings, const LayoutProgress& progress, std::string& note);
  void open_pictures(const Settings& settings, const LayoutProgress& progress, std::string& note);
  void open_boxes(const Settings& settings, const LayoutProgress& progress, std::string& note);
  /// Small files or shards of `train`, as the switches say. `as_they_are`: they have no size in common.
  std::unique_ptr<SampleSource> open_training_pictures(const Settings& settings,
                                                       const PictureSet& train, bool as_they_are,
                                                       const LayoutProgress& progress);

  std::optional<TrainAndTestPairs> pairs_;  ///< for the models of translations
  std::optional<TrainAndTestText> text_;    ///< for the models of text; else images
  std::string description_;                 ///< of images
  Canvas canvas_;                           ///< of pictures
  int size_ = 0;                            ///< likewise, as trained
  std::optional<PictureSizes> sizes_;       ///< likewise, where the device gets them as they are
  int classes_ = 0;
  std::optional<BoxSet> train_boxes_;  ///< for the model that finds boxes
  std::optional<BoxSet> test_boxes_;
  TrainAndTest images_;
  Storage storage_;
  Storage test_storage_;  ///< as fast as it is
  PixelStatistics statistics_;
  std::unique_ptr<SampleSource> train_;
  std::unique_ptr<SampleSource> test_;
};

/// The cache folder that `settings` mean.
std::filesystem::path cache_folder(const Settings& settings);

}  // namespace headway::trainer
