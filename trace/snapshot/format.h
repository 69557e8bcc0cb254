// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/snapshot/snapshot.h"
#include "trace/trace.h"

/// A snapshot file: a Header; a table of Sections; the sections, each at a multiple of kAlign. The
/// first section is the inventory (all data that is not a column) as archived bytes, the others are
/// columns in the order of for_each_column().
namespace headway::trace::snapshot_detail {

inline constexpr std::array<char, 8> kMagic = {'H', 'W', 'S', 'N', 'A', 'P', '\r', '\n'};
/// Must be increased whenever the layout of the file, of a column or of the inventory changes.
inline constexpr std::uint32_t kVersion = 2;
/// Reads as another value on a machine with the other byte order.
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::uint64_t kAlign = 4096;             ///< a page: columns can be mapped
inline constexpr std::uint64_t kMostSections = 1u << 20;  ///< a file with more is damaged

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t byte_order = kByteOrder;
  std::uint64_t sections = 0;            ///< entries of the table behind the header
  std::uint64_t file_bytes = 0;          ///< size of the whole file: shows whether it was cut
  std::uint32_t inventory_checksum = 0;  ///< CRC-32
  std::uint32_t checksum = 0;            ///< CRC-32 of the header (with 0 here) and the table
};
static_assert(sizeof(Header) == 40);

struct Section {
  std::uint64_t offset = 0;  ///< in the file, a multiple of kAlign
  std::uint64_t count = 0;   ///< number of elements
  std::uint64_t element_bytes = 0;
};
static_assert(sizeof(Section) == 24);

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlign - 1) / kAlign * kAlign;
}
/// CRC-32 of the bytes, continued from `before`.
std::uint32_t checksum(std::string_view bytes, std::uint32_t before = 0);
std::uint32_t checksum_of(const Header& header, const std::vector<Section>& table);

/// The texts of a trace, concatenated.
struct Texts {
  std::vector<std::uint32_t> length;
  std::vector<char> bytes;
};

std::string archive_inventory(const Trace& trace, const SnapshotKey& key);
/// Throws Error when the bytes are not an inventory. Creates the counter series, still without samples.
void restore_inventory(std::string_view bytes, Trace& trace, SnapshotKey& key);

/// Why a restored trace cannot be used; empty: it can. Time is linear in the number of events.
std::string problem_of(const Trace& trace);

/// Calls `visit(column)` for every column, in an order that depends on the inventory only.
template <class Trace, class Texts, class Visit>
void for_each_column(Trace& trace, Texts& texts, Visit visit) {
  visit(texts.length);
  visit(texts.bytes);
  auto all_of = [&](auto columns) {
    std::apply([&](auto&... column) { (visit(column), ...); }, columns);
  };
  all_of(trace.ranges.columns());
  all_of(trace.device_ops.columns());
  all_of(trace.calls.columns());
  all_of(trace.io.columns());
  visit(trace.range_info);
  visit(trace.collectives);
  visit(trace.overheads);
  for (auto& series : trace.counters) {
    visit(series.time);
    visit(series.value);
  }
}

}  // namespace headway::trace::snapshot_detail
