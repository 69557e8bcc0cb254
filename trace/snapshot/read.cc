// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "common/error.h"
#include "common/parallel.h"
#include "trace/indexes.h"
#include "trace/snapshot/format.h"

namespace headway::trace {
namespace {

using namespace snapshot_detail;

/// Why a snapshot cannot be used; this exception never leaves this file.
struct Unusable {
  std::string why;
};

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  std::uint64_t bytes() const {
    struct stat info {};
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    return static_cast<std::uint64_t>(info.st_size);
  }
  void read(char* to, std::uint64_t count, std::uint64_t offset) const {
    while (count > 0) {
      ssize_t got = ::pread(fd_, to, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw Unusable{"it ends too early"};
      to += got;
      count -= static_cast<std::uint64_t>(got);
      offset += static_cast<std::uint64_t>(got);
    }
  }

 private:
  int fd_;
};

std::vector<Section> read_table(const File& file, Header& header) {
  const std::uint64_t bytes = file.bytes();
  if (bytes < sizeof header) throw Unusable{"it is shorter than its header"};
  file.read(reinterpret_cast<char*>(&header), sizeof header, 0);
  if (header.magic != kMagic) throw Unusable{"it has no snapshot header"};
  if (header.version != kVersion || header.byte_order != kByteOrder)
    throw Unusable{"another version of Headway wrote it"};
  if (header.file_bytes != bytes) throw Unusable{"its length differs from its header"};
  if (header.sections == 0 || header.sections > kMostSections ||
      header.sections * sizeof(Section) > bytes)
    throw Unusable{"its section table is invalid"};
  std::vector<Section> table(header.sections);
  file.read(reinterpret_cast<char*>(table.data()), table.size() * sizeof(Section), sizeof header);
  if (header.checksum != checksum_of(header, table))
    throw Unusable{"the checksum of its header is wrong"};
  for (const Section& section : table) {
    if (section.element_bytes == 0 || section.element_bytes > 4096 || section.offset > bytes ||
        section.count > (bytes - section.offset) / section.element_bytes)
      throw Unusable{"a section lies outside the file"};
  }
  return table;
}

void read_inventory(const File& file, const Header& header, const Section& section,
                    const SnapshotKey& key, Trace& trace) {
  if (section.element_bytes != 1) throw Unusable{"its inventory is invalid"};
  std::string bytes(section.count, '\0');
  file.read(bytes.data(), section.count, section.offset);
  if (checksum(bytes) != header.inventory_checksum)
    throw Unusable{"the checksum of its inventory is wrong"};
  SnapshotKey found;
  try {
    restore_inventory(bytes, trace, found);
  } catch (const Error& error) {
    throw Unusable{error.what()};
  }
  if (found != key) throw Unusable{""};  // of an earlier state of the source file: not damaged
}

/// Reads the columns in chunks, with one thread per core.
void read_columns(const File& file, const std::vector<Section>& table, Trace& trace, Texts& texts) {
  constexpr std::uint64_t kChunk = std::uint64_t{8} << 20;
  struct Column {
    const Section* section;
    std::function<char*()> make;
  };
  std::vector<Column> columns;
  std::size_t next = 1;
  for_each_column(trace, texts, [&](auto& column) {
    using T = typename std::remove_cvref_t<decltype(column)>::value_type;
    static_assert(std::is_trivially_copyable_v<T>);
    if (next >= table.size()) throw Unusable{"columns are missing"};
    const Section& section = table[next++];
    if (section.element_bytes != sizeof(T)) throw Unusable{"a column has another width"};
    columns.push_back({&section, [&column, &section] {
                         column.resize(section.count);
                         return reinterpret_cast<char*>(column.data());
                       }});
  });
  if (next != table.size()) throw Unusable{"it has too many columns"};
  run_parallel(columns.size(), [&](std::size_t i) {
    const Section& section = *columns[i].section;
    char* to = columns[i].make();
    const std::uint64_t bytes = section.count * section.element_bytes;
    for (std::uint64_t at = 0; at < bytes; at += kChunk)
      file.read(to + at, std::min(kChunk, bytes - at), section.offset + at);
  });
}

void restore_strings(const Texts& texts, Strings& strings) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < texts.length.size(); ++i) {
    if (texts.length[i] > texts.bytes.size() - at) throw Unusable{"its texts end too early"};
    StringId id = strings.add({texts.bytes.data() + at, texts.length[i]});
    if (id.value != i + 1) throw Unusable{"it contains a duplicate text"};
    at += texts.length[i];
  }
  if (at != texts.bytes.size()) throw Unusable{"its texts end too late"};
}

}  // namespace

std::optional<Trace> read_snapshot(const std::filesystem::path& path, const SnapshotKey& key,
                                   std::string& why_not) {
  why_not.clear();
  try {
    File file(path);
    if (!file.is_open()) return std::nullopt;
    Header header;
    std::vector<Section> table = read_table(file, header);
    Trace trace;
    read_inventory(file, header, table[0], key, trace);
    {
      Texts texts;
      read_columns(file, table, trace, texts);
      restore_strings(texts, trace.strings);
    }
    if (std::string problem = problem_of(trace); !problem.empty()) throw Unusable{problem};
    build_indexes(trace);
    return trace;
  } catch (const Unusable& unusable) {
    why_not = unusable.why;
  } catch (const std::bad_alloc&) {
    why_not = "not enough memory";
  } catch (const std::length_error&) {
    why_not = "a column is longer than memory";
  }
  return std::nullopt;
}

}  // namespace headway::trace
