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
  /// `note` receives a sentence when generated data replace the real data.
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
  /// Opens small files or shards of `train`, as the switches say. `as_they_are`: pictures keep
  /// their own sizes.
  std::unique_ptr<SampleSource> open_training_pictures(const Settings& settings,
                                                       const PictureSet& train, bool as_they_are,
                                                       const LayoutProgress& progress);

  std::optional<TrainAndTestPairs> pairs_;  ///< for the models of translations
  std::optional<TrainAndTestText> text_;    ///< for the models of text; else images
  std::string description_;                 ///< of the images
  Canvas canvas_;                           ///< for pictures
  int size_ = 0;                            ///< for pictures: the size that the model trains on
  std::optional<PictureSizes> sizes_;       ///< where the device gets pictures in their own sizes
  int classes_ = 0;
  std::optional<BoxSet> train_boxes_;  ///< for the model that finds boxes
  std::optional<BoxSet> test_boxes_;
  TrainAndTest images_;
  Storage storage_;
  Storage test_storage_;  ///< never slowed down
  PixelStatistics statistics_;
  std::unique_ptr<SampleSource> train_;
  std::unique_ptr<SampleSource> test_;
};

/// The cache folder that `settings` name.
std::filesystem::path cache_folder(const Settings& settings);

}  // namespace headway::trainer
