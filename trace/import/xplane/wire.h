// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The part of protobuf's wire format that reading needs: the fields of a message, one after the
/// other, without a schema and without copies.
namespace headway::trace::xplane {

/// Damage at a byte of the file. The loader turns it into Error(kBadInput).
struct WireFault {
  std::size_t offset;     ///< in the file
  std::string_view what;  ///< a literal
};

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// One field; views into the file.
struct Field {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;  ///< for all types but kBytes
  std::string_view bytes;   ///< for kBytes: a text or a message

  /// A varint read as int64, as signed fields are written.
  std::int64_t number_value() const { return static_cast<std::int64_t>(value); }
  /// A fixed64 read as double.
  double real_value() const { return std::bit_cast<double>(value); }
  bool is(std::uint32_t wanted, WireType as) const { return number == wanted && type == as; }
};

/// The fields of one message. Does not recurse, so nesting costs no stack.
class Message {
 public:
  /// `file`: the whole file; offsets in faults count from its beginning.
  Message(std::string_view message, std::string_view file)
      : at_(message.data()), end_(message.data() + message.size()), file_(file.data()) {}

  /// Reads the next field; false at the end. Throws WireFault for bytes that no message can have.
  bool next(Field& field) {
    if (at_ == end_) return false;
    const char* tag_at = at_;
    std::uint64_t tag = varint();
    if (tag > UINT32_MAX || tag >> 3 == 0) fail(tag_at, "a field has an invalid number");
    field.number = static_cast<std::uint32_t>(tag >> 3);
    switch (tag & 7) {
      case 0:
        field.type = WireType::kVarint;
        field.value = varint();
        field.bytes = {};
        return true;
      case 1:
        field.type = WireType::kFixed64;
        field.value = fixed(8);
        field.bytes = {};
        return true;
      case 2: {
        field.type = WireType::kBytes;
        const char* length_at = at_;
        std::uint64_t length = varint();
        if (length > static_cast<std::uint64_t>(end_ - at_))
          fail(length_at, "a field is longer than its container");
        field.bytes = {at_, static_cast<std::size_t>(length)};
        field.value = 0;
        at_ += length;
        return true;
      }
      case 5:
        field.type = WireType::kFixed32;
        field.value = fixed(4);
        field.bytes = {};
        return true;
      default:
        fail(tag_at, "a field has an unknown type");
    }
  }

  std::size_t offset() const { return static_cast<std::size_t>(at_ - file_); }

 private:
  [[noreturn]] void fail(const char* at, std::string_view what) const {
    throw WireFault{static_cast<std::size_t>(at - file_), what};
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == end_) fail(at_, "a number is truncated");
      auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << (shift < 63 ? shift : 63);
      if (byte < 0x80) return value;
    }
    fail(at_, "a number has more than ten bytes");
  }
  std::uint64_t fixed(int size) {
    if (end_ - at_ < size) fail(at_, "a number is truncated");
    std::uint64_t value = 0;
    for (int i = 0; i < size; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(at_[i])) << (8 * i);
    at_ += size;
    return value;
  }

  const char* at_;
  const char* end_;
  const char* file_;
};

}  // namespace headway::trace::xplane
