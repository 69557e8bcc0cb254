// SPDX-License-Identifier: MIT
#include "reference_trainer/data/layout.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "common/error.h"
#include "reference_trainer/data/source.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

const ImageSet& images() {
  static const ImageSet kImages = generate_images(1, 1500, 1).train;
  return kImages;
}

void ignore(std::int64_t, std::int64_t) {}

/// Reads and decodes one sample.
std::vector<std::uint8_t> decoded(SampleSource& source, std::int64_t sample) {
  EncodedBatch batch;
  source.read(std::span(&sample, 1), batch);
  std::vector<std::uint8_t> pixels(28 * 28);
  source.decode(batch.samples[0], pixels);
  CHECK(batch.samples[0].label == images().labels[static_cast<std::size_t>(sample)]);
  return pixels;
}

void check_all(SampleSource& source) {
  REQUIRE(source.count() == 1500);
  for (std::int64_t sample : {0, 999, 1000, 1499}) {
    const auto expected = images().image(sample);
    CHECK(std::ranges::equal(decoded(source, sample), expected));
  }
}

}  // namespace

TEST_CASE("small files hold the images, below a folder with a space") {
  TemporaryFolder folder;
  Storage storage;
  const fs::path at = lay_out_files(images(), folder.path(), ignore);
  const auto source = open_files(at, 1500, 28, 28, storage);
  check_all(*source);
  const std::int64_t first = 0;
  CHECK(source->bytes(std::span(&first, 1)) ==
        static_cast<std::int64_t>(fs::file_size(at / "00000" / "00000.png")));
}

TEST_CASE("shards hold the images") {
  TemporaryFolder folder;
  Storage storage;
  const auto source = open_shards(lay_out_shards(images(), false, folder.path(), ignore), 1500,
                                  grey_shards(28, 28, false), storage, 1);
  check_all(*source);
}

TEST_CASE(
    "the bytes of all samples of a shard are those of its file, of one that is not full as well") {
  TemporaryFolder folder;
  Storage storage;
  const fs::path at = lay_out_shards(images(), false, folder.path(), ignore);
  const auto source = open_shards(at, 1500, grey_shards(28, 28, false), storage, 1);
  std::vector<std::int64_t> all(1500);
  std::iota(all.begin(), all.end(), 0);
  std::int64_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(at))
    if (entry.is_regular_file()) files += static_cast<std::int64_t>(entry.file_size());
  CHECK(source->bytes(all) <= files);
  CHECK(source->bytes(all) > files - 1500);  // each is rounded down
}

TEST_CASE("an interrupted layout goes on where it stopped, and a finished one is not touched") {
  TemporaryFolder folder;
  struct Stop {};
  auto stop = [](std::int64_t, std::int64_t) { throw Stop{}; };
  CHECK_THROWS_AS(lay_out_files(images(), folder.path(), stop), Stop);
  int blocks = 0;
  auto count = [&](std::int64_t, std::int64_t) { ++blocks; };
  const fs::path at = lay_out_files(images(), folder.path(), count);
  CHECK(blocks == 1);  // the second; the first was kept
  lay_out_files(images(), folder.path(), count);
  CHECK(blocks == 1);
  for (const auto& entry : fs::directory_iterator(at))
    CHECK(!entry.path().filename().string().starts_with(".partial"));
}

TEST_CASE("what a killed process left half done is removed, what a living one writes is not") {
  TemporaryFolder folder;
  const fs::path at = lay_out_shards(images(), false, folder.path(), ignore);
  fs::create_directory(at / ".partial-999999999-0");
  fs::create_directory(at / ".partial-1-0");  // process 1 lives
  lay_out_shards(images(), false, folder.path(), ignore);
  CHECK(!fs::exists(at / ".partial-999999999-0"));
  CHECK(fs::exists(at / ".partial-1-0"));
}

TEST_CASE("a limited data set gets a last block of its own") {
  TemporaryFolder folder;
  Storage storage;
  ImageSet fewer = images();
  fewer.keep_first(1200);
  const fs::path at = lay_out_files(fewer, folder.path(), ignore);
  CHECK(open_files(at, 1200, 28, 28, storage)->count() == 1200);
  check_all(*open_files(lay_out_files(images(), folder.path(), ignore), 1500, 28, 28, storage));
}

TEST_CASE("a cache that cannot be written is named with the remedy") {
  TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  CHECK_THROWS_WITH_AS(lay_out_files(images(), folder / "file", ignore),
                       doctest::Contains("--cache-dir"), Error);
}

TEST_CASE("damaged caches are named with the remedy") {
  TemporaryFolder folder;
  Storage storage;
  const fs::path at = lay_out_files(images(), folder.path(), ignore);
  auto open = [&] { return open_files(at, 1500, 28, 28, storage); };
  SUBCASE("a missing image") {
    fs::remove(at / "00000" / "00007.png");
    const auto source = open();
    CHECK_THROWS_WITH_AS(decoded(*source, 7), doctest::Contains("00007.png"), Error);
  }
  SUBCASE("a corrupt image") {
    std::ofstream(at / "00000" / "00007.png") << "not a PNG";
    const auto source = open();
    CHECK_THROWS_WITH_AS(decoded(*source, 7), doctest::Contains("00007.png"), Error);
  }
  SUBCASE("a missing index") {
    fs::remove(at / "00000" / "index.txt");
    CHECK_THROWS_WITH_AS(open(), doctest::Contains("made again"), Error);
  }
  SUBCASE("an index of another kind") {
    std::ofstream(at / "00000" / "index.txt") << "something else";
    CHECK_THROWS_WITH_AS(open(), doctest::Contains("not an index"), Error);
  }
  SUBCASE("an index with too few images") {
    std::ofstream(at / "00000" / "index.txt") << "headway-images 1 1000 28 28\n00000.png 1 100\n";
    CHECK_THROWS_WITH_AS(open(), doctest::Contains("lists 1 images"), Error);
  }
  SUBCASE("images of another size") {
    CHECK_THROWS_WITH_AS(open_files(at, 1500, 32, 32, storage), doctest::Contains("expected"),
                         Error);
  }
}

TEST_CASE("a damaged shard is named, and so is a missing one") {
  TemporaryFolder folder;
  Storage storage;
  const fs::path at = lay_out_shards(images(), false, folder.path(), ignore);
  std::fstream(at / "00000.shard", std::ios::in | std::ios::out | std::ios::binary).seekp(5000)
      << "damage";
  const auto source = open_shards(at, 1500, grey_shards(28, 28, false), storage, 1);
  CHECK_THROWS_WITH_AS(decoded(*source, 7), doctest::Contains("checksum"), Error);
  CHECK(decoded(*source, 1200).size() == 784);
  fs::remove(at / "00000.shard");
  CHECK_THROWS_WITH_AS(open_shards(at, 1500, grey_shards(28, 28, false), storage, 1),
                       doctest::Contains("00000.shard"), Error);
}

}  // namespace headway::trainer
