// SPDX-License-Identifier: MIT
// Images that the GPU makes are those of the loader to the bit: a run on the GPU has the same losses with both. On a GPU only the first,
// because cuDNN adds up a gradient in any order: after an update the same run twice may differ in the last place.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/reference_trainer/cuda/both_devices.h"
#include "tests/reference_trainer/tiny_detector.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

std::vector<float> gpu_losses(const Settings& settings) {
  std::vector<float> all;
  for (const StepRecord& step : test::train_on_gpu(settings).result.steps)
    all.push_back(*step.loss);
  return all;
}

void check_alike(Settings settings, Decode decode) {
  const std::vector<float> expected = gpu_losses(settings);
  settings.augment_on_device = true;
  settings.decode = decode;
  const std::vector<float> got = gpu_losses(settings);
  CAPTURE(fmt::format("{:a}, by the loader {:a}", fmt::join(got, " "), fmt::join(expected, " ")));
  REQUIRE(got.size() == expected.size());
  CHECK(got[0] == expected[0]);
  const bool emulated = open_cuda_device({})->info().name == "Emulated GPU";
  for (std::size_t i = 1; i < got.size(); ++i)
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(emulated ? 1e-12 : 1e-6));
}

}  // namespace

TEST_CASE("grey images and pictures that the GPU makes train as those of the loader") {
  const test::TemporaryFolder cache;
  Settings settings = test::tiny_settings();
  settings.batch = 2;
  settings.steps = 2;
  for (CopyMode mode : {CopyMode::kAsync, CopyMode::kPrefetch}) {
    settings.h2d = mode;
    check_alike(settings, Decode::kStep);
  }
  settings.data = DataKind::kGeneratedPictures;
  settings.source = SourceKind::kShards;
  settings.image_size = 32;
  settings.samples = 20;
  settings.cache_dir = cache.path().string();
  for (Precision precision : {Precision::kFp32, Precision::kAmpO2}) {
    settings.precision = precision;
    check_alike(settings, Decode::kStep);
    check_alike(settings, Decode::kDevice);
  }
}

TEST_CASE(
    "pictures with boxes that the GPU makes train as those of the loader, inside of a CUDA graph "
    "too") {
  const test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  settings.samples = 20;
  settings.batch = 2;
  settings.steps = 3;
  check_alike(settings, Decode::kStep);
  check_alike(settings, Decode::kDevice);
  settings.cuda_graph = true;
  check_alike(settings, Decode::kDevice);
}

}  // namespace headway::trainer
