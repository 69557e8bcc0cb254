// SPDX-License-Identifier: MIT
#include <zlib.h>

#include <array>
#include <memory>
#include <system_error>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/images.h"

namespace headway::trainer {
namespace {

using File = std::unique_ptr<gzFile_s, decltype(&gzclose)>;

constexpr std::int64_t kLargestBytes = std::int64_t{1} << 32;

std::string shown(const std::filesystem::path& path) {
  return escape_terminal(path.string());
}

/// Reads exactly `bytes` bytes, or fails and reports the fault.
void read_exactly(gzFile file, const std::filesystem::path& path, std::uint8_t* to,
                  std::int64_t bytes, const char* what) {
  std::int64_t done = 0;
  while (done < bytes) {
    const auto piece = static_cast<unsigned>(std::min<std::int64_t>(bytes - done, 1 << 20));
    const int got = gzread(file, to + done, piece);
    if (got > 0) {
      done += got;
      continue;
    }
    int code = Z_OK;
    const char* text = gzerror(file, &code);
    fail_input(
        "{}: {} ends after {} of {} bytes{}{}. The file is truncated or damaged; reinstall it.",
        shown(path), what, done, bytes, code == Z_OK ? "" : ": ", code == Z_OK ? "" : text);
  }
}

std::int64_t big_endian(const std::uint8_t* bytes) {
  return std::int64_t{bytes[0]} << 24 | std::int64_t{bytes[1]} << 16 | std::int64_t{bytes[2]} << 8 |
         bytes[3];
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path, int dimensions) {
  File file(gzopen(path.c_str(), "rb"), &gzclose);
  if (!file) fail_input("{}: {}.", shown(path), system_error_text(errno));
  gzbuffer(file.get(), 256 * 1024);
  std::array<std::uint8_t, 4> word{};
  read_exactly(file.get(), path, word.data(), 4, "the header");
  const std::int64_t magic = big_endian(word.data());
  if (magic != 0x0800 + dimensions)
    fail_input(
        "{}: starts with 0x{:08x}, not with 0x{:08x}: not an IDX file of bytes with {} dimensions.",
        shown(path), magic, 0x0800 + dimensions, dimensions);
  IdxArray array;
  std::int64_t bytes = 1;
  for (int i = 0; i < dimensions; ++i) {
    read_exactly(file.get(), path, word.data(), 4, "the header");
    array.extents.push_back(big_endian(word.data()));
    bytes *= array.extents.back();
    if (bytes <= 0 || bytes > kLargestBytes)
      fail_input("{}: extent {} is {}, which no image set has.", shown(path), i,
                 array.extents.back());
  }
  array.bytes.resize(static_cast<std::size_t>(bytes));
  read_exactly(file.get(), path, array.bytes.data(), bytes, "the data");
  // Reading on checks the checksum at the end of the gzip stream.
  std::uint8_t extra = 0;
  const int more = gzread(file.get(), &extra, 1);
  if (more > 0) fail_input("{}: is longer than its header says.", shown(path));
  if (more < 0) {
    int code = Z_OK;
    fail_input("{}: {}. The file is damaged; reinstall it.", shown(path),
               gzerror(file.get(), &code));
  }
  return array;
}

void ImageSet::keep_first(std::int64_t count) {
  if (count >= this->count()) return;
  labels.resize(static_cast<std::size_t>(count));
  pixels.resize(static_cast<std::size_t>(count * pixels_per_image()));
}

}  // namespace headway::trainer
