// SPDX-License-Identifier: MIT
// JPEG and PNG files of any size, from the folder to batches; boxes and transforms.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <set>

#include "common/error.h"
#include "reference_trainer/data/boxes.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/data/picture_folder.h"
#include "reference_trainer/data/transforms.h"
#include "tests/reference_trainer/tiny_training.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

/// A gradient from left to right in red, from top to bottom in green.
Picture gradient(int height, int width) {
  Picture picture;
  picture.height = height;
  picture.width = width;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int value : {255 * x / (width - 1), 255 * y / (height - 1), 100})
        picture.rgb.push_back(static_cast<std::uint8_t>(value));
  return picture;
}

void write(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

fs::path generated(const test::TemporaryFolder& folder, std::int64_t count) {
  return generate_pictures(1, count, folder.path(), [](auto, auto) {});
}

}  // namespace

TEST_CASE("a JPEG comes back as it was, about") {
  const Picture before = gradient(50, 83);
  const Picture after = decode_picture(encode_jpeg(before, 95), "memory");
  REQUIRE(after.height == 50);
  REQUIRE(after.width == 83);
  int worst = 0;
  for (std::size_t i = 0; i < before.rgb.size(); ++i)
    worst = std::max(worst, std::abs(before.rgb[i] - after.rgb[i]));
  CHECK(worst < 20);
}

TEST_CASE("cut, damaged and foreign files are told by name, at every length") {
  const std::vector<std::byte> jpeg = encode_jpeg(gradient(64, 64), 80);
  for (std::size_t length = 0; length < jpeg.size(); length += 37) {
    CAPTURE(length);
    CHECK_THROWS_WITH_AS(decode_picture(std::span(jpeg).first(length), "some/picture.jpg"),
                         doctest::Contains("some/picture.jpg"), Error);
  }
  std::vector<std::byte> text(100, std::byte{'x'});
  CHECK_THROWS_WITH_AS(decode_picture(text, "notes.txt"), doctest::Contains("neither JPEG nor PNG"),
                       Error);
}

TEST_CASE("resizing keeps a gradient a gradient, larger and smaller, whole and in part") {
  const Picture picture = gradient(200, 300);
  for (int size : {20, 64, 350}) {
    CAPTURE(size);
    std::vector<std::uint8_t> small(static_cast<std::size_t>(size) * size * 3);
    resize(picture.rgb, 200, 300, {0, 0, 1, 1, 0}, size, size, small);
    for (int x = 1; x < size; ++x) CHECK(small[x * 3UL] >= small[(x - 1) * 3UL]);
    CHECK(small.front() < 20);
    CHECK(small[(static_cast<std::size_t>(size) * size - 1) * 3] > 235);
    CHECK(small[2] == 100);
  }
  std::vector<std::uint8_t> part(10UL * 10 * 3);
  resize(picture.rgb, 200, 300, {0.5F, 0, 1, 1, 0}, 10, 10, part);
  CHECK(part[0] > 120);
}

TEST_CASE("the centred part has the wanted aspect") {
  const Box wide = centred_part(100, 400, 50, 50);
  CHECK(wide.width() == doctest::Approx(0.25));
  CHECK(wide.height() == doctest::Approx(1));
  CHECK(centred_part(400, 100, 50, 100).height() == doctest::Approx(0.125));
}

TEST_CASE("augmentation is decided by its random numbers alone and stays in bounds") {
  const Picture picture = gradient(73, 73);
  auto run = [&](std::uint64_t seed, bool chance) {
    PictureAugmentation how;
    how.random = chance;
    Random random(seed);
    std::vector<float> out(64UL * 64 * 3);
    augment_picture(how, random, picture.rgb, 73, 73, 64, 64, out);
    return out;
  };
  CHECK(run(1, true) == run(1, true));
  CHECK(run(1, true) != run(2, true));
  CHECK(run(1, false) == run(2, false));
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (float value : run(seed, true)) {
      if (!(value > -2.2F && value < 2.7F)) FAIL("out of bounds: ", value);
    }
}

TEST_CASE("a part in pixels has one at least, and none beyond the picture") {
  const kernels::PicturePart part = part_of({0.25F, 0.1F, 0.75F, 0.6F, 0}, 200, 300);
  CHECK(part.height == 200);
  CHECK(part.width == 300);
  CHECK(part.top == doctest::Approx(20));
  CHECK(part.left == doctest::Approx(75));
  CHECK(part.rows == doctest::Approx(100));
  CHECK(part.columns == doctest::Approx(150));
  for (const Box& box : {Box{0.999F, 1, 1, 1, 0}, Box{-0.5F, -1, 0, 0, 0}, Box{1.5F, 2, 3, 3, 0}}) {
    const kernels::PicturePart least = part_of(box, 7, 9);
    CHECK(least.rows == doctest::Approx(1));
    CHECK(least.columns == doctest::Approx(1));
    CHECK(least.top >= 0);
    CHECK(least.left >= 0);
    CHECK(least.top + least.rows <= 7);
    CHECK(least.left + least.columns <= 9);
  }
}

TEST_CASE("pictures whose part and colours are chosen first and made in a batch are the loader's") {
  constexpr int kHeight = 33, kWidth = 40;
  constexpr std::size_t kPictures = 6;
  const Picture picture = gradient(73, 73);
  for (bool chance : {false, true}) {
    PictureAugmentation how;
    how.random = chance;
    std::vector<kernels::PicturePart> parts;
    std::vector<kernels::ColourChange> changes;
    std::vector<float> expected;
    for (std::size_t i = 0; i < kPictures; ++i) {
      Random random(i), again(i);
      std::vector<float> one(std::size_t{kHeight} * kWidth * 3);
      augment_picture(how, random, picture.rgb, 73, 73, kHeight, kWidth, one);
      expected.insert(expected.end(), one.begin(), one.end());
      parts.push_back(choose_part(how, again, 73, 73));
      if (chance) changes.push_back(choose_colours(how.jitter, again));
      CHECK(random.below(1'000'000) == again.below(1'000'000));
    }
    std::vector<std::uint8_t> pixels(expected.size());
    std::vector<float> got(expected.size());
    run(kernels::ResizePictures{kPictures, kHeight, kWidth, 0, picture.rgb.data(), parts.data(),
                                pixels.data()});
    kernels::ColourPictures op = colour_pictures(how, kHeight, kWidth);
    op.images = kPictures;
    op.from = pixels.data();
    op.changes = chance ? changes.data() : nullptr;
    op.to = got.data();
    run(op);
    CHECK(got == expected);
  }
}

TEST_CASE("colours are chosen within their share, and pictures are mirrored as often as not") {
  Random random(1);
  int mirrored = 0;
  float least = 2, most = 0;
  for (int i = 0; i < 1000; ++i) {
    const kernels::ColourChange change = choose_colours(0.3F, random);
    for (float factor : {change.brightness, change.contrast, change.saturation}) {
      least = std::min(least, factor);
      most = std::max(most, factor);
    }
    mirrored += choose_mirror(random);
  }
  CHECK(least >= 0.7F);
  CHECK(least < 0.71F);
  CHECK(most <= 1.3F);
  CHECK(most > 1.29F);
  CHECK(mirrored > 440);
  CHECK(mirrored < 560);
}

TEST_CASE("overlap of boxes") {
  const Box a{0, 0, 0.5F, 0.5F, 1};
  CHECK(iou(a, a) == doctest::Approx(1));
  CHECK(iou(a, {0.5F, 0.5F, 1, 1, 1}) == 0);
  CHECK(iou(a, {0.25F, 0, 0.75F, 0.5F, 1}) == doctest::Approx(1.0 / 3));
  CHECK(iou({0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}) == 0);
}

TEST_CASE("a random crop keeps at least one centre, and boxes are cut to it") {
  const std::vector<Box> boxes = {{0.1F, 0.1F, 0.3F, 0.4F, 3}, {0.6F, 0.5F, 0.95F, 0.9F, 7}};
  std::set<bool> whole;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Box part = random_iou_crop(boxes, random);
    whole.insert(part.area() == 1);
    CHECK(part.left >= 0);
    CHECK(part.right <= 1.0001F);
    const auto kept = crop_boxes(boxes, part);
    REQUIRE(!kept.empty());
    for (const Box& box : kept) {
      CHECK(box.left >= 0);
      CHECK(box.right <= 1);
      CHECK(box.left < box.right);
      CHECK((box.label == 3 || box.label == 7));
    }
  }
  CHECK(whole.size() == 2);
}

TEST_CASE("flipping boxes twice changes nothing") {
  std::vector<Box> boxes = {{0.1F, 0.2F, 0.4F, 0.5F, 1}};
  flip_boxes(boxes);
  CHECK(boxes[0].left == doctest::Approx(0.6));
  CHECK(boxes[0].right == doctest::Approx(0.9));
  flip_boxes(boxes);
  CHECK(boxes[0].left == doctest::Approx(0.1));
}

TEST_CASE("SSD300 has 8732 default boxes, and what is encoded comes back") {
  const BoxEncoder encoder = BoxEncoder(ssd_feature_maps(300));
  REQUIRE(encoder.count() == 8732);
  const std::vector<Box> boxes = {{0.1F, 0.1F, 0.35F, 0.4F, 3},
                                  {0.5F, 0.45F, 0.98F, 0.9F, 7},
                                  {0.70F, 0.10F, 0.715F, 0.118F, 9}};
  std::vector<std::int32_t> labels(encoder.count());
  std::vector<float> offsets(4 * encoder.count());
  encoder.encode(boxes, labels, offsets);
  std::set<std::int32_t> seen;
  for (std::size_t a = 0; a < encoder.count(); ++a) {
    if (labels[a] == 0) continue;
    seen.insert(labels[a]);
    const Box back = encoder.decode(a, std::span<const float, 4>(&offsets[4 * a], 4));
    const auto box = std::ranges::find(boxes, labels[a] - 1, &Box::label);
    REQUIRE(box != boxes.end());
    CHECK(iou(back, *box) > 0.999F);
  }
  CHECK(seen == std::set<std::int32_t>{4, 8, 10});  // the small one by its best anchor
  encoder.encode({}, labels, offsets);
  CHECK(std::ranges::count(labels, 0) == 8732);
}

TEST_CASE("the region of an anchor reaches 2.5 cells of its map from the cell's centre") {
  const BoxEncoder encoder = BoxEncoder(ssd_feature_maps(300));
  const std::vector<float>& regions = *encoder.regions();
  REQUIRE(regions.size() == encoder.anchors()->size());
  // The first of 38 x 38 cells has four anchors, and the only cell of the last map.
  for (std::size_t anchor : {0UL, 3UL}) {
    CHECK(regions[4 * anchor] == doctest::Approx(-2.0 / 38));
    CHECK(regions[4 * anchor + 3] == doctest::Approx(3.0 / 38));
  }
  CHECK(regions[4 * 4] == doctest::Approx(-1.0 / 38));
  CHECK(regions[4 * 4 + 3] == doctest::Approx(3.0 / 38));
  CHECK(regions[regions.size() - 4] == doctest::Approx(-2));
  CHECK(regions[regions.size() - 1] == doctest::Approx(3));
}

TEST_CASE("a folder of pictures is listed mixed, one part for testing, the same every time") {
  test::TemporaryFolder folder;
  const fs::path root = generated(folder, 200);
  const PictureSet train = list_pictures(root, false, 0);
  const PictureSet testing = list_pictures(root, true, 0);
  CHECK(train.classes.size() == 10);
  CHECK(train.files.size() + testing.files.size() == 200);
  CHECK(testing.files.size() > 5);
  CHECK(testing.files.size() < 45);
  std::set<int> labels;
  for (std::size_t i = 0; i < 60; ++i) labels.insert(train.files[i].label);
  CHECK(labels.size() == 10);
  CHECK(list_pictures(root, false, 50).files.size() == 50);
  CHECK(list_pictures(root, false, 0).name == train.name);
  CHECK_THROWS_WITH_AS(list_pictures(root / "shape0", false, 0), doctest::Contains("one per class"),
                       Error);
  CHECK_THROWS_WITH_AS(list_pictures("/no/such/folder", false, 0),
                       doctest::Contains("--picture-dir"), Error);
}

TEST_CASE("files, packed records and decoded records give the same training") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_settings();
  settings.data = DataKind::kGeneratedPictures;
  settings.image_size = 32;
  settings.samples = 80;
  settings.steps = 4;
  settings.cache_dir = cache.path().string();
  auto losses = [&](SourceKind source, Decode decode) {
    settings.source = source;
    settings.decode = decode;
    std::vector<float> all;
    for (const StepRecord& step : test::train(settings).steps) all.push_back(*step.loss);
    return all;
  };
  const auto files = losses(SourceKind::kFiles, Decode::kStep);
  CHECK(losses(SourceKind::kShards, Decode::kStep) == files);
  CHECK(losses(SourceKind::kShards, Decode::kOffline) == files);
  settings.worker_reuse = false;
  CHECK(losses(SourceKind::kShards, Decode::kStep) == files);
  CHECK_THROWS_WITH_AS(losses(SourceKind::kFiles, Decode::kOffline),
                       doctest::Contains("--source shards"), Error);
}

TEST_CASE("strided 1x1 convolutions of few channels stay within their memory") {
  // oneDNN's first choice for their weights' gradient did not, with AVX-512: the heap was damaged by the end.
  test::TemporaryFolder cache;
  Settings settings = test::tiny_settings();
  settings.data = DataKind::kGeneratedPictures;
  settings.source = SourceKind::kShards;
  settings.image_size = 64;
  settings.samples = 40;
  settings.steps = 3;
  settings.cache_dir = cache.path().string();
  const RunResult one = test::train(settings);
  settings.threads = 2;
  const RunResult two = test::train(settings);
  for (std::size_t i = 0; i < one.steps.size(); ++i)
    CHECK(*two.steps[i].loss == doctest::Approx(*one.steps[i].loss).epsilon(1e-3));
}

TEST_CASE("a corrupt picture ends the run with its name") {
  test::TemporaryFolder folder;
  const fs::path root = generated(folder, 120);
  const fs::path bad = root / list_pictures(root, false, 0).files[3].path;
  std::vector<std::byte> half = encode_jpeg(gradient(200, 200), 80);
  half.resize(half.size() / 2);
  write(bad, half);
  Settings settings = test::tiny_settings();
  settings.data = DataKind::kPictures;
  settings.picture_dir = root.string();
  settings.image_size = 32;
  settings.source = SourceKind::kFiles;
  settings.samples = 0;
  settings.steps = 15;
  CHECK_THROWS_WITH_AS(test::train(settings), doctest::Contains(bad.filename().c_str()), Error);
}

}  // namespace headway::trainer
