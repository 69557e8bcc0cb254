// SPDX-License-Identifier: MIT
#include <zip.h>

#include <algorithm>

#include "common/error.h"
#include "trace/bookmarks.h"
#include "trace/import/source/inflate.h"

namespace headway::trace::import_detail {
namespace {

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;

Archive open_archive(const std::filesystem::path& path) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail_input(
        "{}: cannot read the zip archive ({}). A truncated zip has lost its directory; recover the "
        "rest with: zip -FF '{}' --out repaired.zip",
        path.string(), text, path.string());
  }
  return archive;
}

class ZipSource : public Source {
 public:
  ZipSource(const std::filesystem::path& path, const std::string& member)
      : name_((path / member).string()), archive_(open_archive(path)) {
    zip_stat_t info;
    zip_int64_t index = zip_name_locate(archive_.get(), member.c_str(), ZIP_FL_ENC_GUESS);
    if (index < 0) fail_input("{}: no such member in the archive {}.", name_, path.string());
    if (zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(index), 0, &info) == 0 &&
        (info.valid & ZIP_STAT_SIZE))
      size_ = info.size;
    file_ = zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), 0);
    if (!file_)
      fail_input("{}: cannot unpack ({}). Unpack the archive with unzip and pass the file.", name_,
                 zip_strerror(archive_.get()));
  }
  ~ZipSource() override { zip_fclose(file_); }
  ZipSource(const ZipSource&) = delete;
  ZipSource& operator=(const ZipSource&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      zip_int64_t got = zip_fread(file_, to + done, size - done);
      if (got < 0)
        fail_input(
            "{}: the archive is damaged after {} bytes of this member ({}). Copy it again from its "
            "source, and check it with: unzip -t",
            name_, offset_, zip_file_strerror(file_));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
      offset_ += static_cast<zip_uint64_t>(got);
    }
    return done;
  }
  double fraction() const override {
    return size_ > 0 ? std::min(1.0, static_cast<double>(offset_) / static_cast<double>(size_)) : 1;
  }

 private:
  std::string name_;
  Archive archive_;
  zip_file_t* file_ = nullptr;
  zip_uint64_t size_ = 0;
  zip_uint64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<Source> open_zip(const std::filesystem::path& path, const std::string& member) {
  auto source = std::make_unique<ZipSource>(path, member);
  if (!member.ends_with(".gz")) return source;
  return std::make_unique<InflateSource>(std::move(source), (path / member).string());
}

std::vector<std::string> zip_members(const std::filesystem::path& path) {
  Archive archive = open_archive(path);
  std::vector<std::string> members;
  zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_GUESS);
    if (!name) continue;
    std::string member = name;
    // macOS adds a metadata file for every file.
    if (member.starts_with("__MACOSX/") || is_note_file(member)) continue;
    if (member.ends_with(".json") || member.ends_with(".json.gz") ||
        member.ends_with(".xplane.pb") || member.ends_with(".xplane.pb.gz"))
      members.push_back(member);
  }
  std::sort(members.begin(), members.end());
  return members;
}

}  // namespace headway::trace::import_detail
