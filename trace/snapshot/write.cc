// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.h"
#include "trace/save/temporary_file.h"
#include "trace/snapshot/format.h"

namespace headway::trace {
namespace {

using namespace snapshot_detail;

constexpr std::size_t kWriteBytes = std::size_t{16} << 20;

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : path_(path), fd_(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)) {
    if (fd_ < 0) fail();
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// False when `keep_going` returned false.
  bool write(std::string_view bytes, std::uint64_t offset,
             const std::function<bool()>& keep_going) const {
    while (!bytes.empty()) {
      if (keep_going && !keep_going()) return false;
      ssize_t done = ::pwrite(fd_, bytes.data(), std::min(bytes.size(), kWriteBytes),
                              static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(done));
      offset += static_cast<std::uint64_t>(done);
    }
    return true;
  }
  /// Makes the file end where its header says, even when the last section is empty or padded.
  void resize(std::uint64_t bytes) const {
    if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    fail_internal("{}: cannot write: {}.", path_.string(), system_error_text(errno));
  }
  std::filesystem::path path_;
  int fd_;
};

Texts texts_of(const Strings& strings) {
  Texts texts;
  texts.length.reserve(strings.size());
  for (std::uint32_t i = 1; i < strings.size(); ++i) {  // every Strings begins with "" as id 0
    std::string_view text = strings[StringId{i}];
    texts.length.push_back(static_cast<std::uint32_t>(text.size()));
    texts.bytes.insert(texts.bytes.end(), text.begin(), text.end());
  }
  return texts;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& column) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(column.data()), column.size() * sizeof(T)};
}

}  // namespace

std::int64_t snapshot_bytes(const Trace& trace) {
  std::uint64_t bytes = 1u << 20;
  const Texts none;
  for_each_column(const_cast<Trace&>(trace), none,
                  [&](const auto& column) { bytes += aligned(bytes_of(column).size()); });
  for (std::uint32_t i = 0; i < trace.strings.size(); ++i)
    bytes += trace.strings[StringId{i}].size() + 4;
  return static_cast<std::int64_t>(bytes);
}

bool write_snapshot(const Trace& trace, const SnapshotKey& key, const std::filesystem::path& path,
                    const std::function<bool()>& keep_going) {
  const Texts texts = texts_of(trace.strings);
  std::string inventory = archive_inventory(trace, key);
  std::vector<Section> table = {{0, inventory.size(), 1}};
  std::vector<std::string_view> contents = {inventory};
  // columns() has no const form; only read here.
  for_each_column(const_cast<Trace&>(trace), texts, [&](const auto& column) {
    using T = typename std::remove_cvref_t<decltype(column)>::value_type;
    table.push_back({0, column.size(), sizeof(T)});
    contents.push_back(bytes_of(column));
  });
  std::uint64_t end = sizeof(Header) + table.size() * sizeof(Section);
  for (Section& section : table) {
    section.offset = aligned(end);
    end = section.offset + section.count * section.element_bytes;
  }
  Header header;
  header.sections = table.size();
  header.file_bytes = end;
  header.inventory_checksum = checksum(inventory);
  header.checksum = checksum_of(header, table);

  TemporaryFile temporary(path, true);
  {
    File file(temporary.path());
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (!file.write(contents[i], table[i].offset, keep_going)) return false;
    }
    file.write(bytes_of(table), sizeof header, {});
    file.write({reinterpret_cast<const char*>(&header), sizeof header}, 0, {});
    file.resize(end);
  }
  temporary.commit();
  return true;
}

}  // namespace headway::trace
