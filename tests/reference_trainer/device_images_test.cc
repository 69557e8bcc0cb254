// SPDX-License-Identifier: MIT
// Images made by the device: the same training, bit by bit, as with images that the loader makes.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "reference_trainer/data/jpeg_coefficients.h"
#include "reference_trainer/data/packed_batch.h"
#include "reference_trainer/devices/sim/simulated_run.h"
#include "tests/reference_trainer/tiny_detector.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

std::vector<float> losses(const Settings& settings) {
  std::vector<float> all;
  for (const StepRecord& step : test::train(settings).steps) all.push_back(*step.loss);
  return all;
}

std::vector<float> device_losses(Settings settings) {
  settings.augment_on_device = true;
  return losses(settings);
}

Settings pictures(const fs::path& cache) {
  Settings settings = test::tiny_settings();
  settings.data = DataKind::kGeneratedPictures;
  settings.source = SourceKind::kShards;
  settings.image_size = 32;
  settings.samples = 80;
  settings.steps = 4;
  settings.cache_dir = cache.string();
  return settings;
}

Picture grey_picture(int height, int width) {
  Picture picture{height, width, {}};
  picture.rgb.assign(static_cast<std::size_t>(3 * height * width), 128);
  return picture;
}

}  // namespace

TEST_CASE("grey images that the device shifts and normalises train as the loader's") {
  Settings settings = test::tiny_settings();
  for (bool augment : {true, false}) {
    settings.augment = augment;
    const std::vector<float> expected = losses(settings);
    for (CopyMode mode : {CopyMode::kBlocking, CopyMode::kAsync, CopyMode::kPrefetch}) {
      CAPTURE(static_cast<int>(mode));
      settings.h2d = mode;
      CHECK(device_losses(settings) == expected);
    }
  }
  settings.accumulate = 2;
  settings.pinned = false;
  settings.workers = 3;
  CHECK(device_losses(settings) == losses(settings));
}

TEST_CASE("pictures that the device resizes, colours and decodes train as the loader's") {
  test::TemporaryFolder cache;
  Settings settings = pictures(cache.path());
  for (bool augment : {true, false}) {
    CAPTURE(augment);
    settings.augment = augment;
    settings.decode = Decode::kStep;
    const std::vector<float> expected = losses(settings);
    for (Decode decode : {Decode::kStep, Decode::kOffline, Decode::kDevice}) {
      CAPTURE(static_cast<int>(decode));
      settings.decode = decode;
      CHECK(device_losses(settings) == expected);
    }
    settings.source = SourceKind::kFiles;
    settings.workers = 3;
    CHECK(device_losses(settings) == expected);
    settings.source = SourceKind::kShards;
  }
}

TEST_CASE("pictures with boxes that the device resizes and decodes train as the loader's") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  settings.steps = 4;
  for (Assign assign : {Assign::kLoader, Assign::kBatched}) {
    settings.assign = assign;
    for (bool augment : {true, false}) {
      CAPTURE(augment);
      settings.augment = augment;
      settings.decode = Decode::kOffline;
      const std::vector<float> offline = losses(settings);
      CHECK(device_losses(settings) == offline);
      settings.decode = Decode::kStep;
      const std::vector<float> step = losses(settings);
      CHECK(step != offline);
      CHECK(device_losses(settings) == step);
      settings.decode = Decode::kDevice;
      CHECK(device_losses(settings) == step);
    }
  }
}

TEST_CASE("what a device cannot decode is refused with the remedy") {
  test::TemporaryFolder cache;
  Settings settings = pictures(cache.path());
  settings.decode = Decode::kDevice;
  CHECK_THROWS_WITH_AS(losses(settings), doctest::Contains("--augment-on device"), Error);
  settings.data = DataKind::kGenerated;
  settings.source = SourceKind::kMemory;
  CHECK_THROWS_WITH_AS(device_losses(settings), doctest::Contains("--decode step"), Error);

  settings = pictures(cache.path());
  settings.decode = Decode::kStep;
  losses(settings);  // draws them
  const PictureSet set = list_pictures(cache.path() / "generated-pictures-1", false, 0);
  const fs::path bad = set.root / set.files[5].path;
  settings.data = DataKind::kPictures;
  settings.picture_dir = set.root.string();
  settings.source = SourceKind::kFiles;
  settings.decode = Decode::kDevice;
  std::ofstream(bad, std::ios::binary) << "\x89PNG\r\n\x1A\n and so on";
  CHECK_THROWS_WITH_AS(device_losses(settings), doctest::Contains(bad.filename().c_str()), Error);
  CHECK_THROWS_WITH_AS(device_losses(settings), doctest::Contains("--decode step"), Error);
  std::ofstream(bad, std::ios::binary) << "\xFF\xD8\xFF";
  CHECK_THROWS_WITH_AS(device_losses(settings), doctest::Contains("ends in its header"), Error);
}

TEST_CASE("a picture that has grown since the run began ends it with its name") {
  PictureSizes sizes;
  sizes.pixels = {3 * 40 * 40, 3 * 20 * 20};
  sizes.coefficients = {2 * 64 * 75, 2 * 64 * 27};
  Batch batch;
  std::vector<std::byte> block;
  auto begin = [&](PackedBatch& packed, const PackedFormat& format) {
    block.assign(static_cast<std::size_t>(format.bytes()), std::byte{0});
    batch.images = Memory(nullptr, {block.data(), MemoryKind::kPageable}, format.bytes());
    packed.begin(batch);
  };
  const PackedFormat as_pixels = picture_format(2, sizes, false);
  PackedBatch packed(as_pixels);
  begin(packed, as_pixels);
  packed.add_picture(grey_picture(40, 40), "first.png");
  packed.add_picture(grey_picture(20, 20), "second.png");
  packed.end();
  CHECK(batch.image_bytes <= as_pixels.bytes());
  begin(packed, as_pixels);
  packed.add_picture(grey_picture(40, 40), "first.png");
  CHECK_THROWS_WITH_AS(packed.add_picture(grey_picture(40, 40), "grown.png"),
                       doctest::Contains("grown.png: this picture is larger"), Error);

  const PackedFormat as_jpegs = picture_format(2, sizes, true);
  PackedBatch coefficients(as_jpegs);
  begin(coefficients, as_jpegs);
  coefficients.add_jpeg(encode_jpeg(grey_picture(40, 40), 90), "first.jpg");
  CHECK_THROWS_WITH_AS(coefficients.add_jpeg(encode_jpeg(grey_picture(40, 40), 90), "grown.jpg"),
                       doctest::Contains("grown.jpg: this picture is larger"), Error);
}

TEST_CASE("a simulated device gets pixels in the place of floats and makes the images in kernels") {
  test::TemporaryFolder cache;
  Settings settings = pictures(cache.path());
  settings.steps = 12;
  settings.device = DeviceKind::kSim;
  std::string note;
  auto simulate = [&] {
    const DataSetup data(
        settings, [](auto, auto) {}, note);
    return sim::simulate(settings, data.data(), {true, true}, {});
  };
  struct Made {
    std::int64_t copied = 0;
    std::int64_t kernels = 0;
    bool augments = false;
    double step_s = 0;
  };
  auto made = [&](const sim::SimulatedRun& run) {
    Made result;
    for (const sim::Op& op : run.recordings[0].ops) {
      if (op.batch != 5) continue;
      if (op.kind == conventions::DeviceOpKind::kCopyHostToDevice) result.copied += op.bytes;
      if (op.phase == Phase::kInput && op.kind == conventions::DeviceOpKind::kKernel)
        ++result.kernels;
    }
    for (const sim::RangeRecord& range : run.recordings[0].ranges)
      result.augments |=
          range.payload.kind == static_cast<std::uint32_t>(conventions::RangeKind::kAugment);
    result.step_s = run.result.mean_step_s();
    return result;
  };
  const Made by_workers = made(simulate());
  CHECK(by_workers.kernels == 0);
  CHECK(by_workers.augments);
  settings.augment_on_device = true;
  const Made by_device = made(simulate());
  CHECK(by_device.kernels == 2);
  CHECK_FALSE(by_device.augments);
  CHECK(by_device.copied < by_workers.copied / 2);
  // Decoding sources of 375 x 500 is most of a worker's time, cutting images of 32 x 32 from them little of it.
  CHECK(by_device.step_s < 0.98 * by_workers.step_s);
  settings.decode = Decode::kDevice;
  const Made decoded = made(simulate());
  CHECK(decoded.kernels == 4);
  CHECK(decoded.step_s < 0.9 * by_device.step_s);
}

}  // namespace headway::trainer
