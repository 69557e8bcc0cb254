// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "common/error.h"
#include "reference_trainer/data/augment.h"
#include "reference_trainer/data/images.h"
#include "reference_trainer/data/png.h"
#include "reference_trainer/data/sampler.h"
#include "reference_trainer/data/shard.h"
#include "reference_trainer/data/storage.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

using test::TemporaryFolder;

std::string idx_bytes(std::initializer_list<int> extents, std::size_t data) {
  std::string bytes = {0, 0, 8, static_cast<char>(extents.size())};
  for (int extent : extents)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(extent >> shift));
  bytes.append(data, '\5');
  return bytes;
}

std::filesystem::path write_gz(const TemporaryFolder& folder, const std::string& name,
                               const std::string& bytes) {
  const auto path = folder / name;
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return path;
}

void write_raw(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read_raw(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("an IDX file is read with its extents") {
  TemporaryFolder folder;
  const IdxArray array = read_idx(write_gz(folder, "a.gz", idx_bytes({2, 3, 4}, 24)), 3);
  CHECK(array.extents == std::vector<std::int64_t>{2, 3, 4});
  CHECK(array.bytes.size() == 24);
}

TEST_CASE("every way an IDX file can be wrong is named") {
  TemporaryFolder folder;
  auto error_of = [&](const std::filesystem::path& path, int dimensions) -> std::string {
    try {
      read_idx(path, dimensions);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kBadInput);
      CHECK(std::string(error.what()).find(path.filename().string()) != std::string::npos);
      return error.what();
    }
    return "no error";
  };
  auto contains = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  contains(error_of(folder / "missing.gz", 3), "No such file");
  contains(error_of(write_gz(folder, "short.gz", idx_bytes({2, 3, 4}, 20)), 3), "20 of 24 bytes");
  contains(error_of(write_gz(folder, "long.gz", idx_bytes({2, 3, 4}, 25)), 3), "longer than");
  contains(error_of(write_gz(folder, "labels.gz", idx_bytes({6}, 6)), 3), "not an IDX file");
  contains(error_of(write_gz(folder, "zero.gz", idx_bytes({0, 3, 4}, 0)), 3), "extent 0 is 0");
  contains(error_of(write_gz(folder, "huge.gz", idx_bytes({2000000000, 2000000000, 3}, 9)), 3),
           "extent 1");
  const std::string whole = read_raw(write_gz(folder, "w.gz", idx_bytes({9, 30, 30}, 8100)));
  write_raw(folder / "cut.gz", whole.substr(0, whole.size() - 12));
  contains(error_of(folder / "cut.gz", 3), "truncated or damaged");
  std::string flipped = whole;
  flipped[flipped.size() - 6] = static_cast<char>(flipped[flipped.size() - 6] ^ 1);  // the CRC
  write_raw(folder / "crc.gz", flipped);
  contains(error_of(folder / "crc.gz", 3), "damaged");
}

TEST_CASE("images and labels that do not belong together are refused") {
  TemporaryFolder folder;
  write_gz(folder, "train-images-idx3-ubyte.gz", idx_bytes({4, 28, 28}, 4 * 784));
  write_gz(folder, "train-labels-idx1-ubyte.gz", idx_bytes({5}, 5));
  CHECK_THROWS_WITH_AS(load_fashion_mnist(folder.path()), doctest::Contains("holds 4 images but"),
                       Error);
  std::string labels = idx_bytes({4}, 4);
  labels.back() = 12;
  write_gz(folder, "train-labels-idx1-ubyte.gz", labels);
  CHECK_THROWS_WITH_AS(load_fashion_mnist(folder.path()), doctest::Contains("label 12 of image 3"),
                       Error);
}

TEST_CASE("generated images depend on the seed alone and use every class") {
  const TrainAndTest a = generate_images(3, 300, 10);
  const TrainAndTest b = generate_images(3, 300, 10);
  CHECK(a.train.pixels == b.train.pixels);
  CHECK(a.train.pixels != generate_images(4, 300, 10).train.pixels);
  CHECK(std::set<int>(a.train.labels.begin(), a.train.labels.end()).size() == 10);
}

TEST_CASE("a PNG comes back as it was, and a broken one is named") {
  std::vector<std::uint8_t> pixels(7 * 5);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7);
  std::vector<std::byte> png = encode_png(pixels, 7, 5);
  std::vector<std::uint8_t> back(pixels.size());
  decode_png(png, 7, 5, back, "x.png");
  CHECK(back == pixels);
  CHECK_THROWS_WITH_AS(decode_png(png, 7, 4, back, "x.png"),
                       doctest::Contains("x.png: 7x5 pixels, expected 7x4"), Error);
  CHECK_THROWS_WITH_AS(decode_png(std::span(png).first(png.size() / 2), 7, 5, back, "cut.png"),
                       doctest::Contains("cut.png"), Error);
  std::vector<std::byte> damaged = png;
  damaged[png.size() - 20] ^= std::byte{0xFF};
  CHECK_THROWS_WITH_AS(decode_png(damaged, 7, 5, back, "bad.png"), doctest::Contains("bad.png"),
                       Error);
  CHECK_THROWS_AS(decode_png({}, 7, 5, back, "empty.png"), Error);
}

TEST_CASE("a shard comes back as it was, and any changed byte is noticed") {
  const std::vector<std::vector<std::byte>> images = {
      {std::byte{1}, std::byte{2}}, {}, {std::byte{9}}};
  const std::vector<std::uint8_t> labels = {3, 1, 2};
  const std::vector<std::byte> packed = pack_shard(images, labels, 28, 28);
  const Shard shard = unpack_shard(packed, "s");
  REQUIRE(shard.records.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(shard.records[i].label == labels[i]);
    CHECK(std::ranges::equal(shard.records[i].bytes, images[i]));
  }
  for (std::size_t i = 0; i < packed.size(); ++i) {
    if (i >= 12 && i < 20) continue;  // height and width are checked by who opens it
    std::vector<std::byte> changed = packed;
    changed[i] ^= std::byte{0x41};
    CHECK_THROWS_AS(unpack_shard(changed, "s"), Error);
  }
  for (std::size_t size = 0; size < packed.size(); ++size)
    CHECK_THROWS_AS(unpack_shard({packed.begin(), packed.begin() + static_cast<long>(size)}, "s"),
                    Error);
}

TEST_CASE("an epoch visits every sample once, in an order that seed and epoch decide") {
  for (std::int64_t count : {1, 999, 1000, 20500}) {
    Sampler sampler(count, true, 7);
    const auto order = sampler.order(0);
    std::vector<std::int64_t> sorted = *order;
    std::ranges::sort(sorted);
    for (std::int64_t i = 0; i < count; ++i) REQUIRE(sorted[static_cast<std::size_t>(i)] == i);
    CHECK(*Sampler(count, true, 7).order(0) == *order);
    if (count > 1) {
      CHECK(*sampler.order(1) != *order);
      CHECK(*Sampler(count, true, 8).order(0) != *order);
    }
  }
  CHECK((*Sampler(5, false, 7).order(3)) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("augmentation shifts, flips and normalises") {
  const std::vector<std::uint8_t> pixels = {0, 51, 102, 153, 204, 255};
  std::vector<float> out(6);
  Random random(1);
  augment({false, 0, {0.5F, 0.25F}}, random, pixels, 2, 3, out);
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(out[i] == doctest::Approx((pixels[i] / 255.0 - 0.5) / 0.25).epsilon(1e-5));
  std::set<std::vector<float>> seen;
  for (int i = 0; i < 200; ++i) {
    augment({true, 1, {0, 1}}, random, pixels, 2, 3, out);
    seen.insert(out);
  }
  CHECK(seen.size() == 18);  // 3 x 3 shifts, flipped or not
  const PixelStatistics statistics = pixel_statistics(pixels);
  CHECK(statistics.mean == doctest::Approx(0.5));
  CHECK(statistics.deviation == doctest::Approx(std::sqrt(0.35 / 3)).epsilon(1e-3));
}

TEST_CASE("images whose shifts are chosen first and made in a batch are the loader's") {
  constexpr std::size_t kImages = 20;
  const Augmentation how{true, 2, {0.3F, 0.4F}};
  std::vector<std::uint8_t> pixels(kImages * 35);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 37);
  std::vector<kernels::ImageShift> shifts;
  std::vector<float> expected(pixels.size()), got(pixels.size());
  for (std::size_t i = 0; i < kImages; ++i) {
    Random random(i), again(i);
    augment(how, random, std::span(pixels).subspan(i * 35, 35), 5, 7,
            std::span(expected).subspan(i * 35, 35));
    shifts.push_back(choose_shift(how, again));
    CHECK(random.below(1'000'000) == again.below(1'000'000));
  }
  kernels::ShiftImages op = shift_images(how, 5, 7);
  op.images = kImages;
  op.from = pixels.data();
  op.shifts = shifts.data();
  op.to = got.data();
  run(op);
  CHECK(got == expected);
}

TEST_CASE("storage reads real bytes and names what it cannot read") {
  TemporaryFolder folder;
  write_raw(folder / "a file", "hello");
  Storage storage;
  std::vector<std::byte> bytes;
  storage.read_file(folder / "a file", bytes);
  CHECK(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == "hello");
  CHECK_THROWS_WITH_AS(storage.read_file(folder / "none", bytes), doctest::Contains("cannot open"),
                       Error);
}

TEST_CASE(
    "a throttled read takes its latencies and its bytes, and latencies of two workers overlap") {
  using namespace std::chrono;
  TemporaryFolder folder;
  write_raw(folder / "f", std::string(100000, 'x'));
  Storage storage({milliseconds(20), 10e6});  // 20 ms to open, 20 ms to read, 10 ms to transfer
  std::vector<std::byte> bytes;
  const auto start = steady_clock::now();
  storage.read_file(folder / "f", bytes);
  const auto alone = steady_clock::now() - start;
  CHECK(alone >= milliseconds(50));
  CHECK(bytes.size() == 100000);
  const auto both_start = steady_clock::now();
  std::thread other([&] {
    std::vector<std::byte> own;
    storage.read_file(folder / "f", own);
  });
  storage.read_file(folder / "f", bytes);
  other.join();
  // At least the latencies of one and the transfers of both: the bandwidth is shared.
  CHECK(steady_clock::now() - both_start >= milliseconds(60));
}

TEST_CASE("a read takes no less than a reader's own rate, and a storage serves so many readers") {
  using namespace std::chrono;
  TemporaryFolder folder;
  write_raw(folder / "f", std::string(100000, 'x'));
  Storage::Speed speed;
  speed.reader_bytes_per_second = 5e6;  // 20 ms
  speed.readers = 1;
  Storage storage(speed);
  std::vector<std::byte> bytes;
  const auto start = steady_clock::now();
  std::thread other([&] {
    std::vector<std::byte> own;
    storage.read_file(folder / "f", own);
  });
  storage.read_file(folder / "f", bytes);
  other.join();
  CHECK(steady_clock::now() - start >= milliseconds(40));
  CHECK_THROWS_AS(storage.read_file(folder / "none", bytes), Error);
  storage.read_file(folder / "f", bytes);  // the place of the failed read is free again
}

}  // namespace headway::trainer
