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

/// An enumeration as a program registered it.
struct PayloadEnum {
  struct Value {
    std::string name;
    std::uint64_t value = 0;
    bool is_flag = false;  ///< a set of bits that can be combined with others
  };
  std::string name;
  std::size_t size = 0;  ///< in bytes
  std::vector<Value> values;
};

/// One payload of an event; an event may have several, which may refer to each other.
struct PayloadBlob {
  std::uint64_t schema = 0;
  std::span<const std::byte> bytes;
};

/// Looks up what entries of schemas refer to by number, in the domain that registered them. Null: not
/// known.
class PayloadReferences {
 public:
  virtual const PayloadSchema* schema(std::uint64_t id) const = 0;
  virtual const PayloadEnum* enumeration(std::uint64_t id) const = 0;
  /// Text of a registered string, by its handle.
  virtual const std::string* registered_text(std::uint64_t handle) const = 0;

 protected:
  ~PayloadReferences() = default;  // never destroyed through this interface
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
  /// The value as a floating-point number; nullopt when the payload is too short, or the value is NaN
  /// or infinite.
  std::optional<double> number(std::span<const std::byte> payload) const;
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

/// The payload as a JSON object, for the timeline and for SQL: nested schemas, arrays of fixed and of
/// variable length, unions with a selector beside them, enumerations by name. A value that is not in
/// the payload itself (the target of a pointer), or not known, is null. `event`: all payloads of the
/// event, needed when the length of an array is in another payload.
std::string payload_to_json(const PayloadSchema& schema, std::span<const std::byte> payload,
                            const PayloadReferences* references = nullptr,
                            std::span<const PayloadBlob> event = {});

/// `text` as a JSON string; invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

}  // namespace headway::trace
