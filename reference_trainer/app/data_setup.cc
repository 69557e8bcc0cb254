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

TrainAndTest load_images(const Settings& s, std::string& note) {
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
    : images_(load_images(s, note)),
      storage_(storage_speed(s)),
      statistics_(pixel_statistics(images_.train.pixels)) {
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
  return {train_.get(),        test_.get(),           images_.train.height,
          images_.train.width, images_.train.classes, statistics_};
}

}  // namespace headway::trainer
