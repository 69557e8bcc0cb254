// SPDX-License-Identifier: MIT
// Reads table b-trees as https://www.sqlite.org/fileformat2.html describes them (sections 1.3, 1.6, 2.1).
#include "trace/sqlite/table_pages.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace headway::trace::sqlite {
namespace {

constexpr std::uint8_t kInterior = 0x05;
constexpr std::uint8_t kLeaf = 0x0d;
/// Deeper than a tree of 512-byte pages with 2^63 rows.
constexpr int kDeepest = 20;
constexpr std::uint32_t kFileHeader = 100;

std::uint64_t big_endian(const std::uint8_t* at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

/// Reads a varint and moves `at` behind it; false when it would reach beyond `end`.
bool read_varint(const std::uint8_t*& at, const std::uint8_t* end, std::uint64_t& value) {
  value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at == end) return false;
    const std::uint8_t byte = *at++;
    if (i == 8) {
      value = value << 8 | byte;
      return true;
    }
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) return true;
  }
  return true;
}

/// Bytes of a value by its serial type, up to 11; 10 and 11 are not used in files.
constexpr std::array<std::uint8_t, 12> kBytesOfType = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

}  // namespace

std::int64_t Cell::integer() const {
  if (type >= 8) return type == 9 ? 1 : 0;
  const int bytes = kBytesOfType[type];
  // The highest byte has the sign.
  const int unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(big_endian(data, bytes) << unused) >> unused;
}

double Cell::real() const {
  return std::bit_cast<double>(big_endian(data, 8));
}

/// State of one visit: what it looks for, the pages on the path to a leaf, and its progress.
struct TablePages::Scan {
  std::int64_t first;
  std::int64_t last;
  void* client;
  Visit row;
  std::array<std::vector<std::uint8_t>, kDeepest> pages;
  std::vector<Cell> cells;
  std::int64_t next;        ///< the smallest row id that was not visited yet
  std::int64_t pages_left;  ///< pages of the file not read yet; a tree with more has a cycle
  bool done = false;        ///< all wanted rows were visited
};

std::optional<TablePages> TablePages::open(const Database& db, std::string_view table,
                                           const std::vector<std::string_view>& columns) {
  TablePages result;
  // The destructor would also end a transaction of the caller.
  if (db.in_transaction()) return std::nullopt;
  result.db_ = &db;
  sqlite3_exec(db.handle(), "BEGIN", nullptr, nullptr, nullptr);  // ends in the destructor
  {
    // This is also the first read, which takes the lock.
    Statement statement =
        db.prepare("SELECT rootpage FROM sqlite_master WHERE type='table' AND name=?1");
    statement.bind(1, table);
    if (!statement.step() || statement.int64(0) <= 0) return std::nullopt;
    result.root_ = static_cast<std::uint32_t>(statement.int64(0));
  }
  if (sqlite3_file_control(db.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &result.file_) !=
          SQLITE_OK ||
      !result.file_ || !result.file_->pMethods)
    return std::nullopt;
  std::array<std::uint8_t, kFileHeader> header;
  if (result.file_->pMethods->xRead(result.file_, header.data(), kFileHeader, 0) != SQLITE_OK)
    return std::nullopt;
  constexpr std::uint8_t kNoLog = 1;
  constexpr std::uint64_t kUtf8 = 1;
  if (header[18] != kNoLog || header[19] != kNoLog) return std::nullopt;
  if (big_endian(header.data() + 56, 4) != kUtf8) return std::nullopt;
  const std::uint64_t page_size = big_endian(header.data() + 16, 2);
  result.page_size_ = page_size == 1 ? 65536 : static_cast<std::uint32_t>(page_size);
  if (result.page_size_ < 512 || header[20] > 32) return std::nullopt;
  result.usable_ = result.page_size_ - header[20];

  Statement statement = db.prepare("SELECT name,pk,hidden FROM pragma_table_xinfo(?1)");
  statement.bind(1, table);
  result.wanted_ = columns.size();
  std::size_t found = 0;
  while (statement.step()) {
    if (statement.int64(2) != 0) return std::nullopt;
    auto wanted = std::find(columns.begin(), columns.end(), statement.text(0));
    if (wanted != columns.end()) {
      if (statement.int64(1) != 0) return std::nullopt;  // may stand for the row id
      ++found;
    }
    result.slot_.push_back(wanted == columns.end() ? -1
                                                   : static_cast<int>(wanted - columns.begin()));
  }
  if (found != columns.size()) return std::nullopt;
  while (!result.slot_.empty() && result.slot_.back() < 0) result.slot_.pop_back();
  return result;
}

TablePages::TablePages(TablePages&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)),
      file_(other.file_),
      root_(other.root_),
      page_size_(other.page_size_),
      usable_(other.usable_),
      slot_(std::move(other.slot_)),
      wanted_(other.wanted_) {}

TablePages::~TablePages() {
  if (db_) sqlite3_exec(db_->handle(), "COMMIT", nullptr, nullptr, nullptr);
}

std::optional<std::int64_t> TablePages::visit(std::int64_t first, std::int64_t last, void* client,
                                              Visit row) {
  sqlite3_int64 size = 0;
  if (file_->pMethods->xFileSize(file_, &size) != SQLITE_OK) return first;
  Scan scan{first, last, client, row, {}, std::vector<Cell>(wanted_), first, size / page_size_};
  if (visit_page(scan, root_, 0)) return std::nullopt;
  return scan.next;
}

bool TablePages::read_page(std::uint32_t page, std::vector<std::uint8_t>& bytes) const {
  if (page == 0) return false;
  bytes.resize(page_size_);
  const auto offset = static_cast<sqlite3_int64>(page - 1) * page_size_;
  return file_->pMethods->xRead(file_, bytes.data(), static_cast<int>(page_size_), offset) ==
         SQLITE_OK;
}

/// False when SQLite must go on at `scan.next`.
bool TablePages::visit_page(Scan& scan, std::uint32_t number, int depth) const {
  if (depth == kDeepest || scan.pages_left-- == 0) return false;
  std::vector<std::uint8_t>& page = scan.pages[static_cast<std::size_t>(depth)];
  if (!read_page(number, page)) return false;
  const std::uint32_t header = number == 1 ? kFileHeader : 0;
  if (page[header] == kLeaf) return visit_leaf(scan, page.data(), header);
  if (page[header] != kInterior) return false;
  const auto count = static_cast<std::uint32_t>(big_endian(page.data() + header + 3, 2));
  constexpr std::uint32_t kHeaderBytes = 12;
  if (header + kHeaderBytes + 2 * count > usable_) return false;
  for (std::uint32_t i = 0; i < count && !scan.done; ++i) {
    const auto cell =
        static_cast<std::uint32_t>(big_endian(page.data() + header + kHeaderBytes + 2 * i, 2));
    if (cell + 4 >= usable_) return false;
    const std::uint8_t* at = page.data() + cell + 4;
    std::uint64_t key = 0;
    if (!read_varint(at, page.data() + usable_, key)) return false;
    // The child holds the rows up to the key.
    if (static_cast<std::int64_t>(key) < scan.first) continue;
    if (!visit_page(scan, static_cast<std::uint32_t>(big_endian(page.data() + cell, 4)), depth + 1))
      return false;
  }
  if (scan.done) return true;
  return visit_page(scan, static_cast<std::uint32_t>(big_endian(page.data() + header + 8, 4)),
                    depth + 1);
}

bool TablePages::visit_leaf(Scan& scan, const std::uint8_t* page, std::uint32_t header) const {
  const auto count = static_cast<std::uint32_t>(big_endian(page + header + 3, 2));
  constexpr std::uint32_t kHeaderBytes = 8;
  if (header + kHeaderBytes + 2 * count > usable_) return false;
  const std::uint8_t* const end = page + usable_;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto cell =
        static_cast<std::uint32_t>(big_endian(page + header + kHeaderBytes + 2 * i, 2));
    if (cell >= usable_) return false;
    const std::uint8_t* at = page + cell;
    std::uint64_t bytes = 0;
    std::uint64_t key = 0;
    if (!read_varint(at, end, bytes) || !read_varint(at, end, key)) return false;
    const auto row_id = static_cast<std::int64_t>(key);
    if (row_id < scan.first) continue;
    if (row_id > scan.last) {
      scan.done = true;
      return true;
    }
    // Longer records continue in overflow pages.
    if (bytes > usable_ - 35 || bytes > static_cast<std::uint64_t>(end - at)) return false;
    if (!read_record(at, at + bytes, scan.cells.data())) return false;
    if (!scan.row(scan.client, row_id, scan.cells.data())) return false;
    if (row_id == scan.last) {
      scan.done = true;
      return true;
    }
    scan.next = row_id + 1;
  }
  return true;
}

/// Finds the wanted cells; false for a record that lacks columns or reaches beyond its end.
bool TablePages::read_record(const std::uint8_t* record, const std::uint8_t* end,
                             Cell* cells) const {
  const std::uint8_t* at = record;
  std::uint64_t header = 0;
  if (!read_varint(at, end, header) || header < static_cast<std::uint64_t>(at - record) ||
      header > static_cast<std::uint64_t>(end - record))
    return false;
  const std::uint8_t* const types_end = record + header;
  const std::uint8_t* value = types_end;
  for (const int slot : slot_) {
    std::uint64_t type = 0;
    if (!read_varint(at, types_end, type)) return false;
    if (type == 10 || type == 11) return false;
    const std::uint64_t bytes = type < kBytesOfType.size() ? kBytesOfType[type] : (type - 12) / 2;
    if (bytes > static_cast<std::uint64_t>(end - value)) return false;
    if (slot >= 0) cells[slot] = {type, value};
    value += bytes;
  }
  return true;
}

}  // namespace headway::trace::sqlite
