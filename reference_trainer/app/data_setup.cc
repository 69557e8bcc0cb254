// SPDX-License-Identifier: MIT
#include "reference_trainer/app/data_setup.h"

#include <fmt/format.h>

#include <cstdlib>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/composites.h"
#include "reference_trainer/data/storage_kinds.h"
#include "reference_trainer/switches/switches.h"

namespace headway::trainer {
namespace {

constexpr std::int64_t kGeneratedTrain = 20000;
constexpr std::int64_t kGeneratedTest = 2000;
constexpr std::int64_t kGeneratedPairs = 8000;
constexpr std::int64_t kGeneratedText = 2'000'000;

TrainAndTest load_images(const Settings& s, std::string& note) {
  if (s.data == DataKind::kText)
    fail_usage(
        "--data text is for --model transformer or gnmt; resnet takes fashion-mnist, pictures or "
        "generated ones.");
  if (s.data == DataKind::kCoco)
    fail_usage(
        "--data coco is for --model ssd; resnet takes fashion-mnist, pictures or generated ones.");
  const auto seed = static_cast<std::uint64_t>(s.seed);
  const std::int64_t train = s.samples > 0 ? s.samples : kGeneratedTrain;
  if (s.data == DataKind::kGenerated) return generate_images(seed, train, kGeneratedTest);
  if (s.data == DataKind::kAuto && !has_fashion_mnist(s.data_dir)) {
    note = fmt::format(
        "Fashion-MNIST is not in {} (Debian package dataset-fashion-mnist); using generated "
        "images.",
        escape_terminal(s.data_dir));
    return generate_images(seed, train, kGeneratedTest);
  }
  if (!has_fashion_mnist(s.data_dir))
    fail_input(
        "{}: no Fashion-MNIST here. Install the Debian package dataset-fashion-mnist, name its "
        "folder with --data-dir, or use --data generated.",
        escape_terminal(s.data_dir));
  TrainAndTest images = load_fashion_mnist(s.data_dir);
  if (s.samples > 0) images.train.keep_first(s.samples);
  return images;
}

void check_text_data(const Settings& s) {
  if (s.data != DataKind::kAuto && s.data != DataKind::kText && s.data != DataKind::kGenerated)
    fail_usage("--data {} are images; a model of text takes text, generated or auto.",
               find_switch("data").get(s));
}

/// The text of a run, with at most `samples` sequences.
TrainAndTestText load_tokens(const Settings& s, std::string& note) {
  const auto seed = static_cast<std::uint64_t>(s.seed);
  const bool installed = has_text(s.text_dir);
  check_text_data(s);
  if (s.data == DataKind::kText && !installed)
    fail_input(
        "{}: no files here. Install the Debian package manpages, name another folder with "
        "--text-dir, or use --data generated.",
        escape_terminal(s.text_dir));
  const bool generated = s.data == DataKind::kGenerated || !installed;
  if (s.data == DataKind::kAuto && !installed)
    note = fmt::format("No text in {} (Debian package manpages); using generated sentences.",
                       escape_terminal(s.text_dir));
  TrainAndTestText text = generated ? generate_text(seed, kGeneratedText)
                                    : load_text(s.text_dir, 40 * (s.sequence + 1));
  if (const std::int64_t most = s.samples * s.sequence + 1;
      s.samples > 0 && most < static_cast<std::int64_t>(text.train.tokens.size()))
    text.train.tokens.resize(static_cast<std::size_t>(most));
  return text;
}

/// The translations of a run, at most `samples`.
TrainAndTestPairs load_translations(const Settings& s, std::string& note) {
  check_text_data(s);
  const bool installed = has_pairs(s.pairs_dir);
  if (s.data == DataKind::kText && !installed)
    fail_input(
        "{}: no message catalogues (*.mo) here. Name another folder with --pairs-dir, or use "
        "--data "
        "generated.",
        escape_terminal(s.pairs_dir));
  if (s.data == DataKind::kAuto && !installed)
    note = fmt::format("No message catalogues in {}; using generated sentences.",
                       escape_terminal(s.pairs_dir));
  TrainAndTestPairs pairs =
      s.data == DataKind::kGenerated || !installed
          ? generate_pairs(static_cast<std::uint64_t>(s.seed), kGeneratedPairs, s.sequence)
          : load_pairs(s.pairs_dir, s.sequence);
  if (s.samples > 0 && s.samples < static_cast<std::int64_t>(pairs.train.pairs.size()))
    pairs.train.pairs.resize(static_cast<std::size_t>(s.samples));
  return pairs;
}

Storage::Speed storage_speed(const Settings& s) {
  Storage::Speed speed = speed_of(s.storage);
  speed.replace(s.storage_latency_ms, s.storage_mb_per_s);
  return speed;
}

std::string no_pictures(const Settings& s) {
  return fmt::format(
      "There are no pictures in {} (Debian package openclipart-png); using "
      "generated ones.",
      escape_terminal(s.picture_dir));
}

/// The number of pictures to generate; a tenth of them is for testing.
std::int64_t generated_pictures(const Settings& s) {
  constexpr std::int64_t kUsual = 2000;
  return s.samples > 0 ? s.samples * 10 / 9 + 100 : kUsual;
}

/// Whether composites use the pictures of picture_dir.
bool has_objects(const Settings& s) {
  std::error_code ignored;
  return (s.data == DataKind::kAuto || s.data == DataKind::kPictures) &&
         std::filesystem::is_directory(s.picture_dir, ignored);
}

std::string composites_description(const Settings& s) {
  return fmt::format("{} on backgrounds (seed {})",
                     has_objects(s) ? "pictures of " + s.picture_dir : "generated shapes", s.seed);
}

/// The folder of pictures composed from those of picture_dir, or from generated shapes.
std::filesystem::path composites(const Settings& s, const LayoutProgress& progress,
                                 std::string& note) {
  if (s.data == DataKind::kFashionMnist || s.data == DataKind::kText)
    fail_usage("--data {} has no boxes; ssd takes pictures, coco, generated or auto.",
               find_switch("data").get(s));
  CompositeOptions options;
  options.seed = static_cast<std::uint64_t>(s.seed);
  options.count = generated_pictures(s);
  std::optional<PictureSet> objects;
  if (has_objects(s)) {
    options.objects = &objects.emplace(list_pictures(s.picture_dir, false, 0));
  } else if (s.data == DataKind::kAuto || s.data == DataKind::kPictures) {
    note = no_pictures(s);
  }
  return write_composites(options, cache_folder(s), progress);
}

}  // namespace

std::filesystem::path cache_folder(const Settings& settings) {
  if (!settings.cache_dir.empty()) return settings.cache_dir;
  // getenv is safe here: nothing in this program changes the environment.
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg)
    return std::filesystem::path(xdg) / "headway-train";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / ".cache" / "headway-train";
  fail_usage(
      "Neither XDG_CACHE_HOME nor HOME is set; say where to keep small files and shards with "
      "--cache-dir, or use --source memory.");
}

DataSetup::DataSetup(const Settings& s, const LayoutProgress& progress, std::string& note)
    : storage_(storage_speed(s)) {
  if (s.model == ModelKind::kGnmt) {
    pairs_ = load_translations(s, note);
  } else if (s.model == ModelKind::kTransformer) {
    text_ = load_tokens(s, note);
  } else {
    set_up_images(s, progress, note);
  }
}

void DataSetup::set_up_images(const Settings& s, const LayoutProgress& progress,
                              std::string& note) {
  if (s.decode == Decode::kOffline && s.source == SourceKind::kFiles)
    fail_usage(
        "decode: images that are decoded offline are packed into shards; use --source shards.");
  if (s.decode == Decode::kDevice && !s.augment_on_device)
    fail_usage(
        "decode: images decoded on the device are also augmented there; use --augment-on device.");
  if (s.model == ModelKind::kSsd) {
    open_boxes(s, progress, note);
  } else if (s.data == DataKind::kPictures || s.data == DataKind::kGeneratedPictures) {
    open_pictures(s, progress, note);
  } else {
    open_images(s, progress, note);
  }
}

void DataSetup::open_images(const Settings& s, const LayoutProgress& progress, std::string& note) {
  if (s.decode == Decode::kDevice)
    fail_usage(
        "decode: a device decodes JPEG; these images are PNG. Use --data pictures or "
        "generated-pictures, or --decode step.");
  images_ = load_images(s, note);
  statistics_ = pixel_statistics(images_.train.pixels);
  const ImageSet& train = images_.train;
  description_ = train.description;
  classes_ = train.classes;
  const bool decoded = s.decode == Decode::kOffline;
  switch (s.source) {
    case SourceKind::kMemory:
      train_ = open_memory(train);
      break;
    case SourceKind::kFiles:
      train_ = open_files(lay_out_files(train, cache_folder(s), progress), train.count(),
                          train.height, train.width, storage_);
      break;
    case SourceKind::kShards:
      train_ = open_shards(lay_out_shards(train, decoded, cache_folder(s), progress), train.count(),
                           grey_shards(train.height, train.width, decoded), storage_,
                           static_cast<int>(s.workers));
      break;
  }
  test_ = open_memory(images_.test);
  if (s.source == SourceKind::kMemory) return;
  images_.train.pixels = {};  // from here on they are read from storage
}

void DataSetup::open_pictures(const Settings& s, const LayoutProgress& progress,
                              std::string& note) {
  if (s.source == SourceKind::kMemory)
    fail_usage("source: pictures come from files or shards; use --source files or shards.");
  std::filesystem::path root = s.picture_dir;
  std::error_code ignored;
  const bool missing = !std::filesystem::is_directory(root, ignored);
  if (s.data == DataKind::kGeneratedPictures || missing) {
    if (s.data == DataKind::kPictures) note = no_pictures(s);
    root = generate_pictures(static_cast<std::uint64_t>(s.seed), generated_pictures(s),
                             cache_folder(s), progress);
  }
  size_ = static_cast<int>(s.image_size);
  // The usual ratio: 256 pixels for crops of 224.
  canvas_ = {size_ * 8 / 7, size_ * 8 / 7};
  const PictureSet train = list_pictures(root, false, s.samples);
  description_ = train.description;
  classes_ = static_cast<int>(train.classes.size());
  train_ = open_training_pictures(s, train, false, progress);
  test_ = open_picture_files(list_pictures(root, true, 0), canvas_, test_storage_);
}

std::unique_ptr<SampleSource> DataSetup::open_training_pictures(const Settings& s,
                                                                const PictureSet& train,
                                                                bool as_they_are,
                                                                const LayoutProgress& progress) {
  const bool on_device = s.decode == Decode::kDevice;
  if (on_device || (s.augment_on_device && as_they_are && s.decode == Decode::kStep))
    sizes_ = measure_pictures(train, on_device);
  if (s.source == SourceKind::kFiles) return open_picture_files(train, canvas_, storage_);
  const bool decoded = s.decode == Decode::kOffline;
  return open_picture_shards(
      lay_out_picture_shards(train, canvas_, decoded, cache_folder(s), progress),
      static_cast<std::int64_t>(train.files.size()), canvas_, decoded, storage_,
      static_cast<int>(s.workers));
}

void DataSetup::open_boxes(const Settings& s, const LayoutProgress& progress, std::string& note) {
  if (s.source == SourceKind::kMemory)
    fail_usage("source: pictures come from files or shards; use --source files or shards.");
  const std::filesystem::path root =
      s.data == DataKind::kCoco ? std::filesystem::path(s.box_dir) : composites(s, progress, note);
  size_ = static_cast<int>(s.image_size);
  // A detector finds boxes in the whole picture, so the canvas holds all of it.
  canvas_ = {size_ * 8 / 7, size_ * 8 / 7, true};
  train_boxes_ = read_boxes(root, false, s.samples);
  test_boxes_ = read_boxes(root, true, 0);
  description_ =
      s.data == DataKind::kCoco ? train_boxes_->pictures.description : composites_description(s);
  classes_ = static_cast<int>(train_boxes_->pictures.classes.size());
  train_ = open_training_pictures(s, train_boxes_->pictures, true, progress);
  test_ = open_picture_files(test_boxes_->pictures, canvas_, test_storage_);
}

std::string DataSetup::description() const {
  if (pairs_) return pairs_->train.description;
  return text_ ? text_->train.description : description_;
}

TrainingData DataSetup::data() const {
  if (pairs_) {
    TrainingData data;
    data.train_pairs = &pairs_->train;
    data.test_pairs = &pairs_->test;
    return data;
  }
  if (text_) {
    TrainingData data;
    data.train_text = &text_->train;
    data.test_text = &text_->test;
    return data;
  }
  TrainingData data;
  data.train = train_.get();
  data.test = test_.get();
  data.height = images_.train.height;
  data.width = images_.train.width;
  data.classes = classes_;
  data.statistics = statistics_;
  if (size_ == 0) return data;
  data.height = size_;
  data.width = size_;
  data.channels = 3;
  if (train_boxes_) {
    data.train_boxes = &*train_boxes_;
    data.test_boxes = &*test_boxes_;
  }
  if (sizes_) data.sizes = &*sizes_;
  data.canvas_height = canvas_.height;
  data.canvas_width = canvas_.width;
  return data;
}

}  // namespace headway::trainer
