// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <unordered_map>

#include "common/text.h"
#include "trace/payload.h"
#include "trace/payload_types.h"

namespace headway::trace {

using namespace payload;

namespace {

using Bytes = std::span<const std::byte>;

// Deeper than any program nests; ends the recursion of a schema that refers to itself.
constexpr int kMaxDepth = 16;
// Payloads have up to 16 KiB; nesting and names make the JSON larger.
constexpr std::size_t kMaxJson = std::size_t{1} << 20;
constexpr std::size_t kMaxDimensions = 8;

std::size_t aligned(std::size_t offset, std::size_t align) {
  return align > 1 ? (offset + align - 1) / align * align : offset;
}

/// Bytes of a character of a text type; 0: not a text type.
std::size_t character_bytes(std::uint64_t type) {
  switch (type) {
    case kTypeCString:
    case kTypeCStringUtf8:
      return 1;
    case kTypeCStringUtf16:
      return 2;
    case kTypeCStringUtf32:
      return 4;
    default:
      return 0;
  }
}

/// Bytes of a character of a type whose arrays are texts; 0: not such a type.
std::size_t array_character_bytes(std::uint64_t type) {
  switch (type) {
    case kTypeChar:
    case kTypeChar8:
      return 1;
    case kTypeChar16:
      return 2;
    case kTypeWideChar:
    case kTypeChar32:
      return 4;
    default:
      return 0;
  }
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

/// The characters up to the first zero, as UTF-8.
std::string to_text(Bytes bytes, std::size_t width) {
  std::string text;
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    auto c = static_cast<std::uint32_t>(read_integer(bytes.data() + at, width, false));
    if (c == 0) break;
    if (width == 1) {
      text += static_cast<char>(c);
      continue;
    }
    bool high = width == 2 && c >= 0xd800 && c < 0xdc00 && at + 4 <= bytes.size();
    if (high) {
      auto low = static_cast<std::uint32_t>(read_integer(bytes.data() + at + 2, 2, false));
      if (low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        at += 2;
      }
    }
    append_utf8(text, c);
  }
  return text;
}

/// IEEE half precision.
double read_half(std::uint16_t bits) {
  int exponent = bits >> 10 & 0x1f;
  double fraction = bits & 0x3ff;
  double value = exponent == 0      ? std::ldexp(fraction, -24)
                 : exponent == 0x1f ? (fraction == 0 ? INFINITY : NAN)
                                    : std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

std::string decimal(unsigned __int128 value, bool negative) {
  if (negative) value = -value;
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  return negative ? "-" + digits : digits;
}

/// JSON has no NaN or infinity.
std::string float_text(double value) {
  return value - value == 0 ? fmt::format("{}", value) : "null";
}

std::string number_text(std::uint64_t type, const std::byte* at, std::size_t size) {
  if (is_float_type(type)) {
    // The shortest text of the float, not of the double to which it is converted.
    if (size == 4) {
      auto value = static_cast<float>(read_float(at, size));
      return value - value == 0 ? fmt::format("{}", value) : "null";
    }
    return float_text(read_float(at, size));
  }
  switch (type) {
    case kTypeFloat16:
      return float_text(read_half(static_cast<std::uint16_t>(read_integer(at, 2, false))));
    case kTypeBfloat16:
      return float_text(static_cast<double>(
          std::bit_cast<float>(static_cast<std::uint32_t>(read_integer(at, 2, false)) << 16)));
    case kTypeTf32:
      return float_text(read_float(at, 4));
    case kTypeLongDouble: {
      if (sizeof(long double) != size) return "null";
      long double value;
      std::memcpy(&value, at, sizeof value);
      return float_text(static_cast<double>(value));
    }
    case kTypeInt128:
    case kTypeUint128: {
      unsigned __int128 value;
      std::memcpy(&value, at, sizeof value);
      return decimal(value, type == kTypeInt128 && static_cast<__int128>(value) < 0);
    }
    case kTypeFloat128:
      return "null";
    default:
      break;
  }
  if (is_signed_type(type)) return fmt::format("{}", read_integer(at, size, true));
  return fmt::format("{}", static_cast<std::uint64_t>(read_integer(at, size, false)));
}

/// The elements of an entry.
struct Element {
  std::size_t size = 0;  ///< in bytes; 0: varies, or not known
  std::size_t align = 1;
  const PayloadSchema* schema = nullptr;
  const PayloadEnum* enumeration = nullptr;
  std::size_t character = 0;  ///< for texts: bytes of a character; `size` is that of the text
};

class Writer {
 public:
  Writer(const PayloadReferences* references, std::span<const PayloadBlob> event)
      : references_(references), event_(event) {}

  std::string write(const PayloadSchema& schema, Bytes payload) {
    object(schema, payload, 0, kMaxDepth);
    return std::move(out_);
  }

 private:
  using End = std::optional<std::size_t>;  ///< offset behind what was read; nullopt: not known

  /// Writes the object at `base`, of a schema that is not a union.
  End object(const PayloadSchema& schema, Bytes payload, std::size_t base, int depth);
  /// Writes the member that the selector chooses, as an object.
  End selected(const PayloadSchema& schema, std::uint64_t member, Bytes payload, std::size_t base,
               int depth);
  End value(const PayloadSchema& schema, const std::vector<std::size_t>& places, std::size_t index,
            const Element& element, Bytes payload, std::size_t at, int depth);
  End array(const PayloadEntry& entry, const Element& element, Bytes payload, std::size_t at,
            std::span<const std::size_t> dimensions, int depth);
  End single(const PayloadEntry& entry, const Element& element, Bytes payload, std::size_t at,
             int depth);
  End text(const Element& element, std::size_t characters, Bytes payload, std::size_t at);

  Element element_of(const PayloadSchema& schema, const PayloadEntry& entry);
  struct Extent {
    std::size_t size = 0;  ///< in bytes; 0: payloads differ, or it is not known
    std::size_t align = 1;
  };
  Extent extent_of(const PayloadSchema& schema);
  std::vector<std::size_t> lengths(const PayloadSchema& schema,
                                   const std::vector<std::size_t>& places,
                                   const PayloadEntry& entry, Bytes payload) const;
  std::vector<std::size_t> lengths_in_event(std::uint64_t index) const;
  std::size_t count_to_zero(const Element& element, Bytes payload, std::size_t at) const;
  void enumerator(const PayloadEnum& enumeration, std::uint64_t value);

  const PayloadReferences* references_;
  std::span<const PayloadBlob> event_;
  /// Computed once per schema: schemas may nest in each other, and damaged ones in themselves.
  std::unordered_map<const PayloadSchema*, Extent> extents_;
  std::string out_;
};

/// The value of an integer entry; nullopt when its place is not known.
std::optional<std::uint64_t> integer_at(const PayloadEntry& entry, std::size_t place, Bytes payload,
                                        std::size_t index = 0) {
  std::size_t size = payload_type_size(entry.type).value_or(0);
  if (place == SIZE_MAX || size == 0 || size > 8 || place > payload.size() ||
      (payload.size() - place) / size <= index)
    return std::nullopt;
  return static_cast<std::uint64_t>(
      read_integer(payload.data() + place + index * size, size, is_signed_type(entry.type)));
}

Element Writer::element_of(const PayloadSchema& schema, const PayloadEntry& entry) {
  Element element;
  if (entry.flags & kFlagPointer) {
    element.size = element.align = 8;
  } else if (entry.type >= kFirstSchemaId) {
    if (references_) element.enumeration = references_->enumeration(entry.type);
    if (references_ && !element.enumeration) element.schema = references_->schema(entry.type);
    if (element.enumeration) {
      element.size = element.align = element.enumeration->size;
    } else if (element.schema) {
      Extent extent = extent_of(*element.schema);
      element.size = extent.size;
      element.align = extent.align;
    }
  } else if (std::size_t width = character_bytes(entry.type)) {
    std::uint64_t array = entry.flags & kFlagArrayMask;
    bool fixed = entry.array_or_union_detail > 0 &&
                 (array == 0 || array == kFlagArrayFixedSize || array == kFlagArrayZeroTerminated);
    element.character = width;
    element.align = width;
    if (fixed && entry.array_or_union_detail <= kMaxJson) {
      element.size = static_cast<std::size_t>(entry.array_or_union_detail) * width;
    } else if (array == 0) {
      element.size = element.align = 8;  // a pointer to the text
      element.character = 0;
    }
  } else {
    element.size = payload_type_size(entry.type).value_or(0);
    element.align = std::max<std::size_t>(1, element.size);
  }
  if (schema.align > 0) element.align = std::min<std::size_t>(element.align, schema.align);
  return element;
}

Writer::Extent Writer::extent_of(const PayloadSchema& schema) {
  auto [slot, is_new] = extents_.try_emplace(&schema);
  if (!is_new) return slot->second;
  Extent extent;
  std::size_t next = 0;
  bool known = schema.type != kSchemaDynamic;
  bool is_union = schema.type == kSchemaUnion || schema.type == kSchemaUnionWithSelector;
  for (std::size_t i = 0; i < schema.entries.size(); ++i) {
    const PayloadEntry& entry = schema.entries[i];
    Element element = element_of(schema, entry);
    extent.align = std::max(extent.align, element.align);
    std::uint64_t array = entry.flags & kFlagArrayMask;
    std::uint64_t count = 1;
    if (array == kFlagArrayFixedSize && !element.character)
      count = std::min<std::uint64_t>(entry.array_or_union_detail, kMaxJson);
    bool fixed = element.size > 0 && element.size <= kMaxJson &&
                 (array == 0 || array == kFlagArrayFixedSize) && entry.offset <= kMaxJson;
    known = known && fixed;
    if (!fixed) continue;
    bool given = entry.offset > 0 || i == 0;
    std::size_t begin = is_union ? 0
                        : given  ? static_cast<std::size_t>(entry.offset)
                                 : aligned(next, element.align);
    next = std::max(next, begin + element.size * static_cast<std::size_t>(count));
  }
  extent.size = known ? aligned(next, extent.align) : 0;
  if (schema.static_size > 0 && schema.static_size <= kMaxJson)
    extent.size = static_cast<std::size_t>(schema.static_size);
  extents_[&schema] = extent;
  return extent;
}

Writer::End Writer::object(const PayloadSchema& schema, Bytes payload, std::size_t base,
                           int depth) {
  out_ += '{';
  std::vector<std::size_t> places(schema.entries.size(), SIZE_MAX);
  End next = base;
  for (std::size_t i = 0; i < schema.entries.size(); ++i) {
    const PayloadEntry& entry = schema.entries[i];
    if (i > 0) out_ += ',';
    out_ += json_string(entry.name) + ":";
    Element element = element_of(schema, entry);
    // Offset 0 means "not given" for every entry but the first.
    if (entry.offset > 0 || i == 0) {
      if (entry.offset <= payload.size() && base <= payload.size())
        places[i] = base + static_cast<std::size_t>(entry.offset);
    } else if (next) {
      places[i] = base + aligned(*next - base, element.align);
    }
    if (places[i] == SIZE_MAX || places[i] > payload.size() || out_.size() > kMaxJson) {
      out_ += "null";
      next.reset();
    } else {
      next = value(schema, places, i, element, payload, places[i], depth);
    }
  }
  out_ += '}';
  std::size_t size = schema.type == kSchemaDynamic ? 0 : extent_of(schema).size;
  return size > 0 ? End(base + size) : next;
}

Writer::End Writer::selected(const PayloadSchema& schema, std::uint64_t member, Bytes payload,
                             std::size_t base, int depth) {
  std::size_t size = extent_of(schema).size;
  if (member >= schema.entries.size()) {
    out_ += "null";
  } else {
    const PayloadEntry& entry = schema.entries[static_cast<std::size_t>(member)];
    std::vector<std::size_t> places(schema.entries.size(), SIZE_MAX);
    out_ += '{' + json_string(entry.name) + ':';
    value(schema, places, static_cast<std::size_t>(member), element_of(schema, entry), payload,
          base, depth);
    out_ += '}';
  }
  return size > 0 ? End(base + size) : std::nullopt;
}

Writer::End Writer::value(const PayloadSchema& schema, const std::vector<std::size_t>& places,
                          std::size_t index, const Element& element, Bytes payload, std::size_t at,
                          int depth) {
  const PayloadEntry& entry = schema.entries[index];
  std::uint64_t array_kind = entry.flags & kFlagArrayMask;
  bool elsewhere = (entry.flags & (kFlagPointer | kFlagOffsets)) != 0;
  bool pointer_to_text = character_bytes(entry.type) > 0 && !element.character && array_kind == 0;
  if (elsewhere || pointer_to_text || depth <= 0) {
    out_ += "null";
    return element.size > 0 ? End(at + element.size) : std::nullopt;
  }
  if (element.schema && element.schema->type == kSchemaUnion) {
    auto selector = entry.array_or_union_detail < places.size()
                        ? integer_at(schema.entries[entry.array_or_union_detail],
                                     places[entry.array_or_union_detail], payload)
                        : std::nullopt;
    return selected(*element.schema, selector.value_or(UINT64_MAX), payload, at, depth - 1);
  }
  if (element.schema && element.schema->type == kSchemaUnionWithSelector) {
    out_ += "null";
    return element.size > 0 ? End(at + element.size) : std::nullopt;
  }
  std::size_t characters =
      element.character ? element.character : array_character_bytes(entry.type);
  if (array_kind == 0 || (array_kind == kFlagArrayFixedSize && element.character)) {
    if (element.character) return text(element, element.size / element.character, payload, at);
    return single(entry, element, payload, at, depth);
  }
  std::vector<std::size_t> counts;
  if (array_kind == kFlagArrayFixedSize) {
    counts = {
        static_cast<std::size_t>(std::min<std::uint64_t>(entry.array_or_union_detail, kMaxJson))};
  } else if (array_kind == kFlagArrayZeroTerminated) {
    Element unit = element;
    bool texts = element.character && element.size > 0;  // an array of texts of fixed size
    if (characters && !texts) unit.size = characters;
    counts = {count_to_zero(unit, payload, at)};
    if (counts[0] == SIZE_MAX) counts.clear();
    if (!texts && characters && !counts.empty()) {
      Element run = element;
      run.character = characters;
      End end = text(run, counts[0], payload, at);
      return end ? End(*end + characters) : end;
    }
    if (!counts.empty()) {
      End end = array(entry, element, payload, at, counts, depth);
      return end && unit.size ? End(*end + unit.size) : end;  // the terminator
    }
  } else if (array_kind == kFlagArrayLengthIndex) {
    counts = lengths(schema, places, entry, payload);
  } else if (array_kind == kFlagArrayLengthPayload) {
    counts = lengths_in_event(entry.array_or_union_detail);
  }
  if (counts.empty()) {
    out_ += "null";
    return std::nullopt;
  }
  if (characters && counts.size() == 1) {
    Element run = element;
    run.character = characters;
    return text(run, counts[0], payload, at);
  }
  return array(entry, element, payload, at, counts, depth);
}

Writer::End Writer::text(const Element& element, std::size_t characters, Bytes payload,
                         std::size_t at) {
  if (at > payload.size() || (payload.size() - at) / element.character < characters) {
    out_ += "null";
    return std::nullopt;
  }
  std::size_t bytes = characters * element.character;
  out_ += json_string(to_text(payload.subspan(at, bytes), element.character));
  return at + bytes;
}

Writer::End Writer::array(const PayloadEntry& entry, const Element& element, Bytes payload,
                          std::size_t at, std::span<const std::size_t> dimensions, int depth) {
  if (element.size > 0) {
    std::size_t left = at <= payload.size() ? (payload.size() - at) / element.size : 0;
    for (std::size_t count : dimensions) {
      if (count > left) {
        out_ += "null";
        return std::nullopt;
      }
      if (count > 0) left /= count;
    }
  } else if (!element.schema || dimensions.front() > payload.size()) {
    out_ += "null";
    return std::nullopt;
  }
  End next = at;
  out_ += '[';
  for (std::size_t i = 0; i < dimensions.front() && next; ++i) {
    if (i > 0) out_ += ',';
    if (out_.size() > kMaxJson) {
      out_ += "null";
      next.reset();
    } else if (dimensions.size() > 1) {
      next = array(entry, element, payload, *next, dimensions.subspan(1), depth);
    } else if (element.character) {
      next = text(element, element.size / element.character, payload, *next);
    } else {
      next = single(entry, element, payload, *next, depth);
    }
  }
  out_ += ']';
  return next;
}

Writer::End Writer::single(const PayloadEntry& entry, const Element& element, Bytes payload,
                           std::size_t at, int depth) {
  if (element.schema && depth > 0) return object(*element.schema, payload, at, depth - 1);
  if (element.size == 0 || at > payload.size() || payload.size() - at < element.size) {
    out_ += "null";
    return std::nullopt;
  }
  const std::byte* from = payload.data() + at;
  if (element.enumeration) {
    enumerator(*element.enumeration,
               static_cast<std::uint64_t>(read_integer(from, element.size, false)));
  } else if (entry.type == kTypeRegisteredString) {
    const std::string* registered =
        references_
            ? references_->registered_text(static_cast<std::uint64_t>(read_integer(from, 8, false)))
            : nullptr;
    out_ += registered ? json_string(*registered) : "null";
  } else {
    out_ += number_text(entry.type, from, element.size);
  }
  return at + element.size;
}

void Writer::enumerator(const PayloadEnum& enumeration, std::uint64_t value) {
  std::uint64_t mask =
      enumeration.size >= 8 ? UINT64_MAX : (std::uint64_t{1} << enumeration.size * 8) - 1;
  std::string flags;
  std::uint64_t rest = value;
  for (const PayloadEnum::Value& known : enumeration.values) {
    std::uint64_t bits = known.value & mask;
    if (bits == value) {
      out_ += json_string(known.name);
      return;
    }
    if (!known.is_flag || bits == 0 || (rest & bits) != bits) continue;
    flags += (flags.empty() ? "" : "|") + known.name;
    rest &= ~bits;
  }
  if (!flags.empty() && rest == 0) {
    out_ += json_string(flags);
  } else {
    out_ += fmt::format("{}", value);
  }
}

std::vector<std::size_t> Writer::lengths(const PayloadSchema& schema,
                                         const std::vector<std::size_t>& places,
                                         const PayloadEntry& entry, Bytes payload) const {
  if (entry.array_or_union_detail >= places.size()) return {};
  auto index = static_cast<std::size_t>(entry.array_or_union_detail);
  const PayloadEntry& length = schema.entries[index];
  std::size_t dimensions = 1;
  if ((length.flags & kFlagArrayMask) == kFlagArrayFixedSize)
    dimensions = static_cast<std::size_t>(
        std::min<std::uint64_t>(length.array_or_union_detail, kMaxDimensions));
  bool to_zero = (length.flags & kFlagArrayMask) == kFlagArrayZeroTerminated;
  if (to_zero) dimensions = kMaxDimensions;
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < dimensions; ++i) {
    auto count = integer_at(length, places[index], payload, i);
    if (to_zero && count && *count == 0) break;
    if (!count || *count > kMaxJson) return {};
    counts.push_back(static_cast<std::size_t>(*count));
  }
  return counts;
}

std::vector<std::size_t> Writer::lengths_in_event(std::uint64_t index) const {
  if (index >= event_.size()) return {};
  const PayloadBlob& blob = event_[static_cast<std::size_t>(index)];
  PayloadEntry entry;
  entry.type = blob.schema;
  std::size_t count = 0;
  if (blob.schema >= kFirstSchemaId) {
    const PayloadSchema* schema = references_ ? references_->schema(blob.schema) : nullptr;
    if (!schema || schema->entries.empty()) return {};
    entry = schema->entries.front();
    count = (entry.flags & kFlagArrayMask) == kFlagArrayFixedSize
                ? static_cast<std::size_t>(
                      std::min<std::uint64_t>(entry.array_or_union_detail, kMaxDimensions))
                : 1;
  } else if (std::size_t size = payload_type_size(blob.schema).value_or(0)) {
    count = std::min(blob.bytes.size() / size, kMaxDimensions);
  }
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < count; ++i) {
    auto length = integer_at(entry, 0, blob.bytes, i);
    if (!length || *length > kMaxJson) return {};
    counts.push_back(static_cast<std::size_t>(*length));
  }
  return counts;
}

std::size_t Writer::count_to_zero(const Element& element, Bytes payload, std::size_t at) const {
  if (element.size == 0) return SIZE_MAX;
  for (std::size_t count = 0; at + element.size <= payload.size(); ++count, at += element.size) {
    bool zero = true;
    for (std::size_t i = 0; i < element.size; ++i) zero = zero && payload[at + i] == std::byte{0};
    if (zero) return count;
  }
  return SIZE_MAX;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : to_valid_utf8(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string payload_to_json(const PayloadSchema& schema, std::span<const std::byte> payload,
                            const PayloadReferences* references,
                            std::span<const PayloadBlob> event) {
  return Writer(references, event).write(schema, payload);
}

}  // namespace headway::trace
