// SPDX-License-Identifier: MIT
#include "reference_trainer/app/data_setup.h"

#include <fmt/format.h>

#include <cstdlib>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer {
namespace {

constexpr std::int64_t kGeneratedTrain = 20000;
constexpr std::int64_t kGeneratedTest = 2000;
constexpr std::int64_t kGeneratedPairs = 8000;
constexpr std::int64_t kGeneratedText = 2'000'000;

TrainAndTest load_images(const Settings& s, std::string& note) {
  if (s.data == DataKind::kText)
    fail_usage(
        "--data text is for --model transformer or gnmt; images are fashion-mnist or generated.");
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

/// The text of a run; `samples` sequences of it at most.
TrainAndTestText load_tokens(const Settings& s, std::string& note) {
  const auto seed = static_cast<std::uint64_t>(s.seed);
  const bool installed = has_text(s.text_dir);
  if (s.data == DataKind::kFashionMnist)
    fail_usage("--data fashion-mnist are images; a model of text takes text, generated or auto.");
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

/// The translations of a run; `samples` of them at most.
TrainAndTestPairs load_translations(const Settings& s, std::string& note) {
  if (s.data == DataKind::kFashionMnist)
    fail_usage("--data fashion-mnist are images; gnmt takes text, generated or auto.");
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
  return {std::chrono::microseconds(static_cast<std::int64_t>(s.storage_latency_ms * 1000)),
          s.storage_mb_per_s * 1e6};
}

}  // namespace

std::filesystem::path cache_folder(const Settings& settings) {
  if (!settings.cache_dir.empty()) return settings.cache_dir;
  // getenv is safe here: nothing in this program changes the environment.
  if (const char* xdg = std::getenv("XDG_CACHE_HOME");
      xdg && *xdg)  // NOLINT(concurrency-mt-unsafe)
    return std::filesystem::path(xdg) / "headway-train";
  if (const char* home = std::getenv("HOME"); home && *home)  // NOLINT(concurrency-mt-unsafe)
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
  images_ = load_images(s, note);
  statistics_ = pixel_statistics(images_.train.pixels);
  const ImageSet& train = images_.train;
  switch (s.source) {
    case SourceKind::kMemory:
      train_ = open_memory(train);
      break;
    case SourceKind::kFiles:
      train_ = open_files(lay_out_files(train, cache_folder(s), progress), train.count(),
                          train.height, train.width, storage_);
      break;
    case SourceKind::kShards:
      train_ = open_shards(lay_out_shards(train, cache_folder(s), progress), train.count(),
                           train.height, train.width, storage_, static_cast<int>(s.workers));
      break;
  }
  test_ = open_memory(images_.test);
  if (s.source == SourceKind::kMemory) return;
  images_.train.pixels = {};  // from now on they come from storage
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
  data.classes = images_.train.classes;
  data.statistics = statistics_;
  return data;
}

}  // namespace headway::trainer
