// SPDX-License-Identifier: MIT
// Pictures with boxes: put together, written and read in COCO's form, and made into batches.
#include "reference_trainer/data/box_folder.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>

#include "common/error.h"
#include "reference_trainer/data/composites.h"
#include "reference_trainer/data/loader.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/devices/host/host_device.h"
#include "tests/reference_trainer/tiny_detector.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

void append_number(std::string& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift);
}

void append_chunk(std::string& png, const std::string& type, const std::string& data) {
  append_number(png, static_cast<std::uint32_t>(data.size()));
  const std::string body = type + data;
  png += body;
  append_number(png,
                static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                                 static_cast<uInt>(body.size()))));
}

/// A PNG that is red in its middle, `margin` transparent pixels wide on every side.
std::string red_png(std::uint32_t width, std::uint32_t height, std::uint32_t margin) {
  std::string rows;
  for (std::uint32_t y = 0; y < height; ++y) {
    rows += '\0';
    for (std::uint32_t x = 0; x < width; ++x) {
      const bool in = x >= margin && x < width - margin && y >= margin && y < height - margin;
      rows += in ? std::string("\xFF\0\0\xFF", 4) : std::string("\0\xFF\0\0", 4);
    }
  }
  std::string packed(compressBound(rows.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  packed.resize(size);
  std::string head;
  append_number(head, width);
  append_number(head, height);
  head += std::string("\x08\x06\0\0\0", 5);
  std::string png = "\x89PNG\r\n\x1A\n";
  append_chunk(png, "IHDR", head);
  append_chunk(png, "IDAT", packed);
  append_chunk(png, "IEND", "");
  return png;
}

/// Composites of red rectangles of two classes.
struct RedPictures {
  explicit RedPictures(std::int64_t count) {
    for (int i = 0; i < 12; ++i) {
      const fs::path path = folder / fmt::format("objects/class{}/{}.png", i % 2, i);
      fs::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << red_png(60 + 7 * i, 90, 5 + i);
    }
    const PictureSet objects = list_pictures(folder / "objects", false, 0);
    CompositeOptions options;
    options.count = count;
    options.objects = &objects;
    root = write_composites(options, folder / "cache", [](auto, auto) {});
  }
  test::TemporaryFolder folder;
  fs::path root;
};

Picture read_picture(const fs::path& path) {
  std::vector<std::byte> bytes;
  Storage().read_file(path, bytes);
  return decode_picture(bytes, path.string());
}

bool is_red(const std::uint8_t* pixel) {
  return pixel[0] > 170 && pixel[1] < 90 && pixel[2] < 90;
}

/// A valid folder of one picture, whose annotations tests change.
struct OneRoom {
  OneRoom() {
    Picture picture{40, 50, std::vector<std::uint8_t>(6000, 128)};
    const std::vector<std::byte> jpeg = encode_jpeg(picture, 80);
    for (int i = 0; i < 30; ++i)
      std::ofstream(folder / fmt::format("{}.jpg", i), std::ios::binary)
          .write(reinterpret_cast<const char*>(jpeg.data()),
                 static_cast<std::streamsize>(jpeg.size()));
  }
  /// `images` and `annotations` follow the entries of 30 pictures with a box each.
  void write(const std::string& images, const std::string& annotations) const {
    std::string text = R"({"images": [)";
    for (int i = 0; i < 30; ++i)
      text += fmt::format(R"({}{{"id": {}, "file_name": "{}.jpg", "width": 50, "height": 40}})",
                          i ? ", " : "", i, i);
    text += images + R"(], "categories": [{"id": 9, "name": "cup"}, {"id": 4, "name": "tree"}], )" +
            R"("annotations": [)";
    for (int i = 0; i < 30; ++i)
      text += fmt::format(R"({}{{"image_id": {}, "category_id": 9, "bbox": [5, 10, 20.5, 20]}})",
                          i ? ", " : "", i);
    write_text(text + annotations + "]}");
  }
  void write_text(const std::string& text) const {
    std::ofstream(folder / kAnnotations, std::ios::binary) << text;
  }
  void check_error(const std::string& part, const std::string& remedy) const {
    CAPTURE(part);
    CHECK_THROWS_WITH_AS(read_boxes(folder.path(), false, 0), doctest::Contains(part.c_str()),
                         Error);
    CHECK_THROWS_WITH_AS(read_boxes(folder.path(), false, 0), doctest::Contains(remedy.c_str()),
                         Error);
  }
  test::TemporaryFolder folder;
};

}  // namespace

TEST_CASE("the boxes of composites are those of the objects, to a few blurred pixels") {
  const RedPictures red(40);
  const BoxSet set = read_boxes(red.root, false, 0);
  CHECK(set.pictures.classes == std::vector<std::string>{"class0", "class1"});
  CHECK(set.boxes.size() > 25);
  CHECK(set.most_boxes() <= 6);
  CHECK(set.most_boxes() > 2);
  constexpr int kBlur = 3;  // pixels that JPEG mixes across an edge
  std::int64_t red_inside = 0, inside = 0, red_beside = 0, beside = 0;
  for (std::size_t i = 0; i < set.boxes.size(); ++i) {
    const Picture picture = read_picture(red.root / set.pictures.files[i].path);
    /// Whether a pixel lies in a box that is larger by `more` pixels on every side.
    auto in_a_box = [&](int x, int y, int more) {
      return std::ranges::any_of(set.boxes[i], [&](const Box& box) {
        const auto width = static_cast<float>(picture.width);
        const auto height = static_cast<float>(picture.height);
        const auto reach = static_cast<float>(more);
        return static_cast<float>(x) > box.left * width - 0.5F - reach &&
               static_cast<float>(x)<box.right * width - 0.5F + reach&& static_cast<float>(y)> box
                           .top *
                       height -
                   0.5F - reach &&
               static_cast<float>(y) < box.bottom * height - 0.5F + reach;
      });
    };
    for (const Box& box : set.boxes[i]) {
      CHECK(box.left >= 0);
      CHECK(box.right <= 1);
      CHECK(box.label <= 1);
    }
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) {
        if (in_a_box(x, y, -kBlur)) {
          ++inside;
          red_inside += is_red(picture.at(y, x));
        } else if (in_a_box(x, y, 2 * kBlur) && !in_a_box(x, y, kBlur)) {
          ++beside;
          red_beside += is_red(picture.at(y, x));
        }
      }
  }
  CHECK(red_inside * 100 >= inside * 99);
  CHECK(red_beside * 100 < beside * 15);  // a background may be red, too
}

TEST_CASE("composites are written once, and the same options give the same files") {
  test::TemporaryFolder a;
  test::TemporaryFolder b;
  CompositeOptions options;
  options.count = 12;
  auto bytes = [](const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  int reports = 0;
  const fs::path first = write_composites(options, a.path(), [&](auto, auto) { ++reports; });
  const fs::path second = write_composites(options, b.path(), [](auto, auto) {});
  for (const std::string name : {"annotations.json", "images/000003.jpg", "images/000011.jpg"}) {
    CHECK(!bytes(first / name).empty());
    CHECK(bytes(first / name) == bytes(second / name));
  }
  const auto written = fs::last_write_time(first / "images/000003.jpg");
  CHECK(write_composites(options, a.path(), [](auto, auto) {}) == first);
  CHECK(fs::last_write_time(first / "images/000003.jpg") == written);
  options.seed = 2;
  CHECK(bytes(write_composites(options, a.path(), [](auto, auto) {}) / "images/000003.jpg") !=
        bytes(first / "images/000003.jpg"));
  CHECK_THROWS_WITH_AS(write_composites(options, "/proc/nowhere", [](auto, auto) {}),
                       doctest::Contains("--cache-dir"), Error);
}

TEST_CASE("annotations in COCO's form are read, and what cannot be trained on is left out") {
  const OneRoom room;
  room.write(R"(, {"id": 77, "file_name": "none.jpg", "width": 50, "height": 40})",
             R"(, {"image_id": 3, "category_id": 4, "bbox": [40, 30, 100, 100]})"
             R"(, {"image_id": 4, "category_id": 4, "bbox": [1, 1, 30, 30], "iscrowd": 1})"
             R"(, {"image_id": 5, "category_id": 4, "bbox": [1, 1, 0, 30]})");
  const BoxSet train = read_boxes(room.folder.path(), false, 0);
  const BoxSet testing = read_boxes(room.folder.path(), true, 0);
  CHECK(train.boxes.size() + testing.boxes.size() == 30);  // "none.jpg" has no boxes
  CHECK(testing.boxes.size() > 0);
  CHECK(train.pictures.classes == std::vector<std::string>{"tree", "cup"});
  std::size_t boxes = 0;
  for (const BoxSet* set : {&train, &testing})
    for (const auto& each : set->boxes) {
      boxes += each.size();
      CHECK(each[0].left == doctest::Approx(0.1));
      CHECK(each[0].bottom == doctest::Approx(0.75));
      CHECK(each[0].label == 1);
      if (each.size() > 1) CHECK(each[1].right == 1);  // cut to the picture
    }
  CHECK(boxes == 31);
  CHECK(read_boxes(room.folder.path(), false, 7).boxes.size() == 7);
  CHECK(read_boxes(room.folder.path(), false, 0).pictures.name == train.pictures.name);
}

TEST_CASE("whatever is wrong with annotations is said with the file, the entry and the remedy") {
  const OneRoom room;
  room.check_error("annotations.json", "--box-dir");  // there is none
  room.write("", "");
  std::ifstream file(room.folder / kAnnotations, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  for (std::size_t length = 0; length + 1 < whole.size(); length += 61) {
    room.write_text(whole.substr(0, length));
    CAPTURE(length);
    CHECK_THROWS_WITH_AS(read_boxes(room.folder.path(), false, 0),
                         doctest::Contains("annotations.json"), Error);
  }
  room.write_text("[1, 2]");
  room.check_error("categories", "COCO");
  room.write(R"(, {"id": 31, "file_name": "x.jpg", "width": 0, "height": 40})", "");
  room.check_error("entry 30 of \"images\"", "remove the entry");
  room.write(R"(, {"id": 31, "width": 10, "height": 40})", "");
  room.check_error("file_name", "remove the entry");
  room.write("", R"(, {"image_id": 99, "category_id": 9, "bbox": [1, 1, 3, 3]})");
  room.check_error("entry 30 of \"annotations\" names an image", "remove the entry");
  room.write("", R"(, {"image_id": 1, "category_id": 1, "bbox": [1, 1, 3, 3]})");
  room.check_error("names a category", "remove the entry");
  room.write("", R"(, {"image_id": 1, "category_id": 9, "bbox": [1, 1, "wide", 3]})");
  room.check_error("not four numbers", "remove the entry");
  room.write(R"(, {"id": 77, "file_name": "gone.jpg", "width": 50, "height": 40})",
             R"(, {"image_id": 77, "category_id": 9, "bbox": [1, 1, 3, 3]})");
  // Whichever part gone.jpg belongs to.
  std::string said;
  for (bool test : {false, true}) {
    try {
      read_boxes(room.folder.path(), test, 0);
    } catch (const Error& error) {
      said += error.what();
    }
  }
  CHECK(said.find("gone.jpg: annotations.json names this picture") != std::string::npos);
  CHECK(said.find("Add the picture") != std::string::npos);
}

TEST_CASE(
    "what anchors of a batch are to find is where the objects are, cropped, flipped and scaled") {
  const RedPictures red(60);
  const BoxSet set = read_boxes(red.root, false, 0);
  Storage storage;
  const auto source = open_picture_files(set.pictures, {}, storage);
  HostDevice device({1, 0, 0});
  LoaderOptions options;
  options.batch = 8;
  options.batches = 12;
  options.height = 96;
  options.width = 96;
  options.channels = 3;
  options.pictures.jitter = 0.1F;
  options.boxes.of = &set.boxes;
  options.boxes.encoder = std::make_shared<const BoxEncoder>(ssd_feature_maps(96));
  const auto anchors = static_cast<std::size_t>(options.boxes.encoder->count());
  Loader loader(*source, device, options);
  std::int64_t found = 0;
  std::int64_t off = 0;
  while (Batch* batch = loader.next()) {
    const auto* labels = batch->labels.as<std::int32_t>();
    for (std::size_t row = 0; row < 8 * anchors; ++row) {
      REQUIRE(labels[row] >= 0);
      REQUIRE(labels[row] <= 2);
      if (labels[row] == 0) continue;
      const float* offsets = batch->boxes.as<float>() + 4 * row;
      const Box box =
          options.boxes.encoder->decode(row % anchors, std::span<const float, 4>(offsets, 4));
      CHECK(box.left > -0.001F);
      CHECK(box.right < 1.001F);
      const auto x = static_cast<std::size_t>((box.left + box.right) * 48);
      const auto y = static_cast<std::size_t>((box.top + box.bottom) * 48);
      const float* pixel = batch->images.as<float>() + (((row / anchors) * 96 + y) * 96 + x) * 3;
      ++found;
      off += !(pixel[0] > 1 && pixel[1] < -0.8F);
    }
    loader.give_back(batch);
  }
  CHECK(found > 500);
  CHECK(off * 50 < found);  // jitter may fade a red
}

TEST_CASE("boxes that the device matches come as they are, in places of their own") {
  const RedPictures red(30);
  const BoxSet set = read_boxes(red.root, false, 0);
  Storage storage;
  const auto source = open_picture_files(set.pictures, {}, storage);
  HostDevice device({1, 0, 0});
  LoaderOptions options;
  options.batch = 4;
  options.batches = 1;
  options.height = 32;
  options.width = 32;
  options.channels = 3;
  options.shuffle = false;
  options.pictures.random = false;
  options.boxes.of = &set.boxes;
  options.boxes.places = set.most_boxes();
  Loader loader(*source, device, options);
  Batch* batch = loader.next();
  const auto places = static_cast<std::size_t>(set.most_boxes());
  for (std::size_t i = 0; i < 4 * places; ++i) {
    const auto& boxes = set.boxes[i / places];
    const bool there = i % places < boxes.size();
    CHECK(batch->labels.as<std::int32_t>()[i] == (there ? boxes[i % places].label : -1));
    if (there) CHECK(batch->boxes.as<float>()[4 * i] == boxes[i % places].left);
  }
  loader.give_back(batch);
}

TEST_CASE("a detector trains alike on files and shards, and on pictures decoded offline") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  settings.steps = 6;
  auto losses = [&] {
    std::vector<float> all;
    for (const StepRecord& step : test::train(settings).steps) all.push_back(*step.loss);
    return all;
  };
  const std::vector<float> shards = losses();
  settings.source = SourceKind::kFiles;
  settings.workers = 3;
  CHECK(losses() == shards);
  CHECK_THROWS_WITH_AS((settings.decode = Decode::kOffline, losses()),
                       doctest::Contains("--source shards"), Error);
  settings.source = SourceKind::kShards;
  const std::vector<float> offline = losses();
  // Resampled twice, the pictures are a little smoother.
  for (std::size_t i = 0; i < shards.size(); ++i)
    CHECK(offline[i] == doctest::Approx(shards[i]).epsilon(0.1));
}

TEST_CASE(
    "a folder in COCO's form is trained on, and a damaged picture in it ends the run with its "
    "name") {
  const RedPictures red(60);
  Settings settings = test::tiny_detector(red.folder / "cache");
  settings.data = DataKind::kCoco;
  settings.box_dir = red.root.string();
  settings.source = SourceKind::kFiles;
  settings.samples = 0;
  settings.eval = true;
  settings.eval_samples = 0;
  const RunResult result = test::train(settings);
  REQUIRE(result.evaluation);
  CHECK(result.evaluation->images > 0);
  const fs::path bad = red.root / read_boxes(red.root, false, 0).pictures.files[3].path;
  std::ofstream(bad, std::ios::binary) << "\xFF\xD8\xFFnot the rest of it";
  CHECK_THROWS_WITH_AS(test::train(settings), doctest::Contains(bad.filename().c_str()), Error);
  settings.model = ModelKind::kResnet;
  CHECK_THROWS_WITH_AS(test::train(settings), doctest::Contains("--model ssd"), Error);
}

TEST_CASE("ssd says what data it takes, and what stands in for pictures that are not there") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  std::string note;
  auto open = [&] {
    DataSetup(
        settings, [](auto, auto) {}, note);
  };
  settings.data = DataKind::kAuto;
  settings.picture_dir = "/no/such/folder";
  open();
  CHECK(note.find("openclipart-png") != std::string::npos);
  for (DataKind kind : {DataKind::kFashionMnist, DataKind::kText}) {
    settings.data = kind;
    CHECK_THROWS_WITH_AS(open(), doctest::Contains("has no boxes"), Error);
  }
  settings.data = DataKind::kCoco;
  CHECK_THROWS_WITH_AS(open(), doctest::Contains("--box-dir"), Error);
  settings.source = SourceKind::kMemory;
  CHECK_THROWS_WITH_AS(open(), doctest::Contains("--source files"), Error);
}

}  // namespace headway::trainer
