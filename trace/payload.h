// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headway::trace {

/// An extended-payload schema as a program registered it with NVTX. `type` and `flags` of an entry
/// are NVTX's values (NVTX_PAYLOAD_ENTRY_TYPE_*, NVTX_PAYLOAD_ENTRY_FLAG_*).
struct PayloadEntry {
  std::uint64_t flags = 0;
  std::uint64_t type = 0;
  std::string name;
  std::string description;
  std::uint64_t array_or_union_detail = 0;
  std::uint64_t offset = 0;
};
struct PayloadSchema {
  std::uint64_t id = 0;
  std::string name;
  std::uint64_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t static_size = 0;
  std::uint64_t align = 0;
  std::vector<PayloadEntry> entries;
};

/// Size in bytes of a predefined NVTX entry type on 64-bit Linux; nullopt when it has no fixed
/// size.
std::optional<std::size_t> payload_type_size(std::uint64_t nvtx_type);

/// Where a named field lies in payloads of one schema: looked up once, read many times.
class PayloadField {
 public:
  /// The field `name` of `schema`; invalid when the schema has none. Entries without an offset
  /// follow each other with natural alignment, as NVTX says.
  static PayloadField find(const PayloadSchema& schema, std::string_view name);

  bool valid() const { return size_ != 0; }
  /// The value as an integer (floating point is truncated); `fallback` when the field is absent or
  /// the payload too short. `index` selects within a fixed-size array.
  std::int64_t integer(std::span<const std::byte> payload, std::int64_t fallback,
                       std::size_t index = 0) const;
  /// A fixed-size character array up to its first NUL.
  std::string_view text(std::span<const std::byte> payload) const;
  std::size_t count() const { return count_; }

 private:
  std::size_t offset_ = 0;
  std::size_t size_ = 0;   ///< of one element
  std::size_t count_ = 1;  ///< elements
  bool is_signed_ = false;
  bool is_float_ = false;
};

/// The payload as a JSON object, for the timeline and for SQL. What is not embedded at a fixed place
/// (pointers' targets, nested schemas, arrays of variable length) is null.
std::string payload_to_json(const PayloadSchema& schema, std::span<const std::byte> payload);

}  // namespace headway::trace
