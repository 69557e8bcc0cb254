// SPDX-License-Identifier: MIT
#include "reference_trainer/data/loader.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/error.h"
#include "reference_trainer/devices/host/host_device.h"

namespace headway::trainer {
namespace {

const ImageSet& images() {
  static const ImageSet kImages = generate_images(1, 101, 1).train;
  return kImages;
}

LoaderOptions options_for(std::int64_t batches, int workers) {
  LoaderOptions options;
  options.batch = 8;
  options.workers = workers;
  options.batches = batches;
  return options;
}

struct Content {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  bool operator==(const Content&) const = default;
};

std::vector<Content> all_batches(SampleSource& source, const LoaderOptions& options) {
  HostDevice device({1, 0, 0});
  Loader loader(source, device, options);
  std::vector<Content> result;
  while (Batch* batch = loader.next()) {
    const auto* floats = batch->images.as<float>();
    const auto* labels = batch->labels.as<std::int32_t>();
    CHECK(batch->id == static_cast<std::int64_t>(result.size()));
    result.push_back({{floats, floats + 8 * 784}, {labels, labels + 8}});
    loader.give_back(batch);
  }
  return result;
}

/// Memory that fails for one sample, and counts how many batches are being read at once.
class FailingSource final : public SampleSource {
 public:
  explicit FailingSource(std::int64_t bad) : bad_(bad) {}
  std::int64_t count() const override { return inner_->count(); }
  std::int64_t bytes(std::span<const std::int64_t>) const override { return 0; }
  void read(std::span<const std::int64_t> samples, EncodedBatch& into) override {
    for (std::int64_t sample : samples)
      if (sample == bad_) fail_input("sample {} is broken", sample);
    ++reads;
    inner_->read(samples, into);
  }
  void decode(const EncodedBatch::Sample& sample, std::span<std::uint8_t> pixels) const override {
    inner_->decode(sample, pixels);
  }
  std::atomic<int> reads = 0;

 private:
  std::int64_t bad_;
  std::unique_ptr<SampleSource> inner_ = open_memory(images());
};

}  // namespace

TEST_CASE("batches are the same for any number of workers") {
  const auto source = open_memory(images());
  const std::vector<Content> none = all_batches(*source, options_for(30, 0));
  REQUIRE(none.size() == 30);
  CHECK(all_batches(*source, options_for(30, 1)) == none);
  CHECK(all_batches(*source, options_for(30, 3)) == none);
  LoaderOptions other = options_for(30, 3);
  other.prefetch = 9;
  CHECK(all_batches(*source, other) == none);
  other.seed = 2;
  CHECK(all_batches(*source, other) != none);
}

TEST_CASE("epochs differ in order and augmentation unless shuffling and augmentation are off") {
  const auto source = open_memory(images());
  LoaderOptions options = options_for(24, 1);  // two epochs of 12
  std::vector<Content> batches = all_batches(*source, options);
  CHECK(batches[0] != batches[12]);
  options.shuffle = false;
  options.augmentation.random = false;
  batches = all_batches(*source, options);
  CHECK(batches[0] == batches[12]);
}

TEST_CASE("the last, shorter batch of an evaluation is padded with rows that do not count") {
  const auto source = open_memory(images());
  LoaderOptions options = options_for(13, 1);
  options.keep_last = true;
  const std::vector<Content> batches = all_batches(*source, options);
  REQUIRE(batches.size() == 13);
  CHECK(batches.back().labels[4] >= 0);
  for (std::size_t row = 5; row < 8; ++row) CHECK(batches.back().labels[row] == -1);
}

TEST_CASE("a worker's error is thrown for its batch, and earlier batches still come") {
  for (int workers : {0, 1, 3}) {
    FailingSource source(30);
    HostDevice device({1, 0, 0});
    LoaderOptions options = options_for(12, workers);
    options.shuffle = false;
    Loader loader(source, device, options);
    for (int i = 0; i < 3; ++i) loader.give_back(loader.next());
    CHECK_THROWS_WITH_AS(loader.next(), "sample 30 is broken", Error);
    CHECK_THROWS_WITH_AS(loader.next(), "sample 30 is broken", Error);
  }
}

TEST_CASE("workers stay within the prefetch depth") {
  FailingSource source(-1);
  HostDevice device({1, 0, 0});
  LoaderOptions options = options_for(100, 2);
  options.prefetch = 3;
  Loader loader(source, device, options);
  while (source.reads < 3) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(source.reads == 3);
  loader.give_back(loader.next());
  while (source.reads < 4) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(source.reads == 4);
}

TEST_CASE("a loader that is not read to the end goes away") {
  const auto source = open_memory(images());
  HostDevice device({1, 0, 0});
  Loader loader(*source, device, options_for(1000, 3));
  loader.give_back(loader.next());
}

}  // namespace headway::trainer
