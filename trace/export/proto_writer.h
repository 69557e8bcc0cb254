// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace headway::trace::export_detail {

/// Appends fields of a protobuf message. A nested message is written first, with its own
/// ProtoWriter, because its length comes before it.
class ProtoWriter {
 public:
  /// A varint: unsigned numbers, enums, and booleans as 0 and 1.
  ProtoWriter& number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
    return *this;
  }
  /// A varint of a signed number, which takes ten bytes when it is negative (int64, not sint64).
  ProtoWriter& integer(std::uint32_t field, std::int64_t value) {
    return number(field, static_cast<std::uint64_t>(value));
  }
  ProtoWriter& fixed64(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3 | 1);
    for (int shift = 0; shift < 64; shift += 8) text_ += static_cast<char>(value >> shift);
    return *this;
  }
  ProtoWriter& real(std::uint32_t field, double value) {
    return fixed64(field, std::bit_cast<std::uint64_t>(value));
  }
  /// A text or bytes, preceded by their length.
  ProtoWriter& bytes(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  ProtoWriter& message(std::uint32_t field, const ProtoWriter& value) {
    return bytes(field, value.text_);
  }

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  /// Clears the message but keeps the memory.
  void clear() { text_.clear(); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

}  // namespace headway::trace::export_detail
