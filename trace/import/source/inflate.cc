// SPDX-License-Identifier: MIT
#include "trace/import/source/inflate.h"

#include <algorithm>

#include "common/error.h"

namespace headway::trace::import_detail {
namespace {

constexpr std::size_t kInputBytes = 256 * 1024;
constexpr int kGzipOnly = 16 + MAX_WBITS;  // for zlib, 16 means a gzip header only

}  // namespace

InflateSource::InflateSource(std::unique_ptr<Source> compressed, std::string name)
    : compressed_(std::move(compressed)), name_(std::move(name)), input_(kInputBytes) {
  if (inflateInit2(&stream_, kGzipOnly) != Z_OK)
    fail_internal("{}: cannot start zlib: out of memory.", name_);
}

InflateSource::~InflateSource() {
  inflateEnd(&stream_);
}

bool InflateSource::refill() {
  if (stream_.avail_in > 0) return true;
  std::size_t got = compressed_->read(input_.data(), input_.size());
  stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
  stream_.avail_in = static_cast<uInt>(got);
  input_end_ += static_cast<std::int64_t>(got);
  return got > 0;
}

std::size_t InflateSource::read(char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size && !ended_) {
    if (!refill()) {
      ended_ = true;
      cut_ = in_member_ || compressed_->cut();
      break;
    }
    if (!in_member_) {
      // After a member comes another one, or padding, which gzip ignores, too.
      if (*stream_.next_in != 0x1f) {
        ended_ = true;
        break;
      }
      inflateReset(&stream_);
      in_member_ = true;
    }
    std::size_t room = std::min<std::size_t>(size - done, 1u << 30);
    stream_.next_out = reinterpret_cast<Bytef*>(to + done);
    stream_.avail_out = static_cast<uInt>(room);
    int code = inflate(&stream_, Z_NO_FLUSH);
    done += room - stream_.avail_out;
    if (code == Z_STREAM_END) {
      in_member_ = false;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fail_input(
          "{}: the gzip data are damaged at byte {} of the file ({}). Copy the file again from "
          "where it was recorded, and check it with: gzip -t",
          name_, input_end_ - stream_.avail_in, stream_.msg ? stream_.msg : "invalid data");
    }
  }
  return done;
}

std::unique_ptr<Source> open_gzip(const std::filesystem::path& path) {
  return std::make_unique<InflateSource>(open_plain(path), path.string());
}

}  // namespace headway::trace::import_detail
