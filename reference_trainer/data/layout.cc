// SPDX-License-Identifier: MIT
#include "reference_trainer/data/layout.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>
#include <system_error>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/png.h"
#include "reference_trainer/data/sampler.h"
#include "reference_trainer/data/shard.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial-";

[[noreturn]] void fail_cache(const fs::path& path, std::string_view doing, std::error_code code) {
  fail_input("{}: cannot {}: {}. Choose another cache with --cache-dir.",
             escape_terminal(path.string()), doing, code.message());
}

void write_file(const fs::path& path, const void* data, std::size_t size) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (!file) fail_cache(path, "create the file", {errno, std::generic_category()});
  const bool written = std::fwrite(data, 1, size, file) == size;
  const int code = errno;
  if (std::fclose(file) != 0 || !written)
    fail_cache(path, "write the file", {code, std::generic_category()});
}

/// Removes files of processes that were killed while they wrote.
void remove_abandoned(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPartial)) continue;
    int pid = 0;
    std::from_chars(name.data() + kPartial.size(), name.data() + name.size(), pid);
    if (pid > 0 && pid != getpid() && kill(pid, 0) != 0 && errno == ESRCH)
      fs::remove_all(entry.path(), ignored);
  }
}

/// A process-specific file name in `folder`; the file is removed at the end unless it was
/// published.
class Partial {
 public:
  Partial(const fs::path& folder, std::int64_t block)
      : path_(folder / fmt::format("{}{}-{}", kPartial, getpid(), block)) {}
  ~Partial() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;
  const fs::path& path() const { return path_; }

  void publish(const fs::path& as) {
    std::error_code code;
    fs::rename(path_, as, code);
    std::error_code ignored;
    if (code && !fs::exists(as, ignored)) fail_cache(as, "move the finished block", code);
  }

 private:
  fs::path path_;
};

using WriteBlock = std::function<void(std::int64_t begin, std::int64_t end, const fs::path& to)>;

void write_folder(const ImageSet& images, std::int64_t begin, std::int64_t end,
                  const fs::path& to) {
  std::error_code code;
  fs::create_directory(to, code);
  if (code) fail_cache(to, "create the folder", code);
  std::string index =
      fmt::format("headway-images 1 {} {} {}\n", end - begin, images.height, images.width);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::vector<std::byte> png = encode_png(images.image(i), images.height, images.width);
    const std::string name = fmt::format("{:05}.png", i);
    write_file(to / name, png.data(), png.size());
    index +=
        fmt::format("{} {} {}\n", name, images.labels[static_cast<std::size_t>(i)], png.size());
  }
  write_file(to / "index.txt", index.data(), index.size());
}

void write_shard(const ShardContents& contents, std::int64_t begin, std::int64_t end,
                 const fs::path& to) {
  std::vector<std::vector<std::byte>> records;
  std::vector<std::uint8_t> labels;
  for (std::int64_t i = begin; i < end; ++i) {
    records.push_back(contents.record(i));
    labels.push_back(contents.label(i));
  }
  const std::vector<std::byte> shard = pack_shard(records, labels, contents.height, contents.width);
  write_file(to, shard.data(), shard.size());
}

fs::path lay_out(std::int64_t count, const fs::path& folder, std::string_view extension,
                 const WriteBlock& write, const LayoutProgress& progress) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) fail_cache(folder, "create the folder", code);
  remove_abandoned(folder);
  for (std::int64_t begin = 0; begin < count; begin += Sampler::kBlock) {
    const std::int64_t end = std::min(begin + Sampler::kBlock, count);
    const std::int64_t block = begin / Sampler::kBlock;
    // The shorter last block of a limited data set must not count as the whole block that a longer
    // run needs.
    const std::string name = end - begin == Sampler::kBlock
                                 ? fmt::format("{:05}{}", block, extension)
                                 : fmt::format("{:05}-{}{}", block, end - begin, extension);
    if (!fs::exists(folder / name, code)) {
      Partial partial(folder, block);
      write(begin, end, partial.path());
      partial.publish(folder / name);
      progress(end, count);
    }
  }
  return folder;
}

}  // namespace

void write_whole_file(const fs::path& path, std::span<const std::byte> bytes) {
  Partial partial(path.parent_path(), 0);
  write_file(partial.path(), bytes.data(), bytes.size());
  partial.publish(path);
}

fs::path lay_out_files(const ImageSet& images, const fs::path& cache,
                       const LayoutProgress& progress) {
  return lay_out(
      images.count(), cache / images.name / "train-files", "",
      [&](std::int64_t begin, std::int64_t end, const fs::path& to) {
        write_folder(images, begin, end, to);
      },
      progress);
}

fs::path lay_out_shards(const ShardContents& contents, std::string_view set, std::string_view kind,
                        const fs::path& cache, const LayoutProgress& progress) {
  return lay_out(
      contents.count, cache / set / kind, ".shard",
      [&](std::int64_t begin, std::int64_t end, const fs::path& to) {
        write_shard(contents, begin, end, to);
      },
      progress);
}

fs::path lay_out_shards(const ImageSet& images, bool decoded, const fs::path& cache,
                        const LayoutProgress& progress) {
  ShardContents contents;
  contents.count = images.count();
  contents.height = images.height;
  contents.width = images.width;
  contents.label = [&](std::int64_t i) { return images.labels[static_cast<std::size_t>(i)]; };
  contents.record = [&](std::int64_t i) {
    if (!decoded) return encode_png(images.image(i), images.height, images.width);
    const auto pixels = std::as_bytes(images.image(i));
    return std::vector<std::byte>(pixels.begin(), pixels.end());
  };
  return lay_out_shards(contents, images.name, decoded ? "train-shards-decoded" : "train-shards",
                        cache, progress);
}

}  // namespace headway::trainer
