// SPDX-License-Identifier: MIT
#include "trace/payload.h"

#include <algorithm>

#include "trace/payload_types.h"

namespace headway::trace {

using namespace payload;

namespace {

struct Layout {
  std::size_t element_size = 0;  ///< in bytes; 0: not embedded at a fixed place
  std::size_t count = 1;
  bool text = false;
};

Layout layout_of(const PayloadEntry& entry) {
  Layout layout;
  bool is_string = entry.type == kTypeCString || entry.type == kTypeCStringUtf8;
  if (is_string && (entry.flags & (kFlagPointer | kFlagArrayMask) & ~kFlagArrayFixedSize) == 0 &&
      entry.array_or_union_detail > 0) {
    return {1, static_cast<std::size_t>(entry.array_or_union_detail), true};
  }
  std::size_t size = payload_type_size(entry.type).value_or(0);
  if (entry.flags & kFlagPointer) return {8, 1, false};
  layout.element_size = size;
  if ((entry.flags & kFlagArrayMask) == kFlagArrayFixedSize) {
    layout.count = static_cast<std::size_t>(entry.array_or_union_detail);
    layout.text = entry.type == kTypeChar;
  } else if (entry.flags & kFlagArrayMask) {
    layout.element_size = 0;  // variable length: nothing after it has a fixed place
  }
  return layout;
}

/// Calls `visit(entry, layout, offset)` for entries in order, until `visit` returns false or the
/// offset of an entry is unknown.
template <class Visit>
void walk(const PayloadSchema& schema, Visit visit) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < schema.entries.size(); ++i) {
    const PayloadEntry& entry = schema.entries[i];
    Layout layout = layout_of(entry);
    std::size_t offset = entry.offset;
    // Offset 0 means "not given" for every entry but the first.
    if (offset == 0 && i > 0) {
      if (next == SIZE_MAX) return;
      std::size_t align = std::max<std::size_t>(1, layout.element_size);
      offset = (next + align - 1) / align * align;
    }
    if (!visit(entry, layout, offset)) return;
    bool fits = layout.element_size &&
                layout.count < (SIZE_MAX / 2) / std::max<std::size_t>(1, layout.element_size) &&
                offset < SIZE_MAX / 2;
    next = fits ? offset + layout.element_size * layout.count : SIZE_MAX;
  }
}

}  // namespace

std::optional<std::size_t> payload_type_size(std::uint64_t nvtx_type) {
  switch (nvtx_type) {
    case 1:
    case 2:
    case 11:
    case 12:
    case 25:
    case 32:
      return 1;
    case 3:
    case 4:
    case 13:
    case 14:
    case 26:
    case 42:
    case 50:
      return 2;
    case 5:
    case 6:
    case 15:
    case 16:
    case 19:
    case 24:
    case 27:
    case 43:
    case 52:
    case 68:
    case 69:
    case 71:
    case 73:
      return 4;
    case 7:
    case 8:
    case 9:
    case 10:
    case 17:
    case 18:
    case 20:
    case 22:
    case 23:
    case 44:
    case 70:
    case 72:
    case 74:
    case 75:
    case 76:
    case 77:
    case 78:
    case 80:
      return 8;
    case 21:
    case 33:
    case 34:
    case 45:
      return 16;
    default:
      return std::nullopt;
  }
}

PayloadField PayloadField::find(const PayloadSchema& schema, std::string_view name) {
  PayloadField field;
  walk(schema, [&](const PayloadEntry& entry, const Layout& layout, std::size_t offset) {
    if (entry.name != name) return true;
    field.offset_ = offset;
    field.size_ = layout.element_size;
    field.count_ = layout.count;
    field.is_signed_ = is_signed_type(entry.type);
    field.is_float_ = is_float_type(entry.type);
    return false;
  });
  return field;
}

std::int64_t PayloadField::integer(std::span<const std::byte> payload, std::int64_t fallback,
                                   std::size_t index) const {
  if (!valid() || index >= count_ || offset_ > payload.size() ||
      (payload.size() - offset_) / size_ <= index)
    return fallback;
  const std::byte* at = payload.data() + offset_ + index * size_;
  if (!is_float_) return read_integer(at, size_, is_signed_);
  double value = read_float(at, size_);
  bool representable = value > -9.2e18 && value < 9.2e18;  // false for NaN too
  return representable ? static_cast<std::int64_t>(value) : fallback;
}

std::optional<double> PayloadField::number(std::span<const std::byte> payload) const {
  if (!valid() || size_ > 8 || offset_ > payload.size() || payload.size() - offset_ < size_)
    return std::nullopt;
  const std::byte* at = payload.data() + offset_;
  double value =
      is_float_ ? read_float(at, size_)
      : is_signed_
          ? static_cast<double>(read_integer(at, size_, true))
          : static_cast<double>(static_cast<std::uint64_t>(read_integer(at, size_, false)));
  if (value - value != 0) return std::nullopt;  // not a number, or infinite
  return value;
}

std::string_view PayloadField::text(std::span<const std::byte> payload) const {
  if (size_ != 1 || offset_ >= payload.size()) return {};
  std::string_view all(reinterpret_cast<const char*>(payload.data() + offset_),
                       std::min(count_, payload.size() - offset_));
  return all.substr(0, all.find('\0'));
}

}  // namespace headway::trace
