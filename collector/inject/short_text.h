// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "collector/inject/ring_writer.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// Names of ranges are mostly shorter than a unit. These functions find the length and copy such a
/// text without calling the C library (saves 8 of 47 ns a push/pop pair). Like strlen, they read
/// beyond the end of the text, but never into another page.
namespace headway::inject {

inline constexpr std::uint32_t kShortText = wire::kUnit;

#ifdef __SSE2__
inline bool may_read_unit(const char* text) {
  return (reinterpret_cast<std::uintptr_t>(text) & 4095) <= 4096 - kShortText;
}

/// The first kShortText bytes at a text, read only once: the copied bytes are the measured ones.
struct TextUnit {
  __m128i low;
  __m128i high;
};
__attribute__((no_sanitize("address", "thread"))) inline TextUnit read_unit(const char* text) {
  const auto* from = reinterpret_cast<const __m128i*>(text);
  return {_mm_loadu_si128(from), _mm_loadu_si128(from + 1)};
}

/// Length of a text of less than kShortText bytes; kShortText for a longer one.
inline std::uint32_t short_length(const TextUnit& text) {
  const __m128i zero = _mm_setzero_si128();
  auto low = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(text.low, zero)));
  auto high = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(text.high, zero)));
  std::uint32_t ends = low | high << 16;
  return ends ? static_cast<std::uint32_t>(__builtin_ctz(ends)) : kShortText;
}

/// Writes to a whole unit of a ring.
inline void put_unit(std::byte* to, const TextUnit& text) {
  auto* target = reinterpret_cast<__m128i*>(to);
  _mm_store_si128(target, text.low);
  _mm_store_si128(target + 1, text.high);
}
#else
inline bool may_read_unit(const char*) {
  return false;
}
struct TextUnit {};
inline TextUnit read_unit(const char*) {
  return {};
}
inline std::uint32_t short_length(const TextUnit&) {
  return kShortText;
}
inline void put_unit(std::byte*, const TextUnit&) {}
#endif

/// Copies 16 bytes or more, up to a few units, without a call into the C library (saves 5 ns). Some
/// bytes at the end may be written twice.
inline void copy_short(std::byte* to, const void* source, std::uint32_t bytes) {
  const auto* from = static_cast<const std::byte*>(source);
  std::uint32_t at = 0;
  for (; at + 16 <= bytes; at += 16) std::memcpy(to + at, from + at, 16);
  if (at < bytes) std::memcpy(to + bytes - 16, from + bytes - 16, 16);
}

/// Length of a text, at most kMaxText + 1.
inline std::uint32_t text_length(const char* text) {
  if (may_read_unit(text)) [[likely]] {
    std::uint32_t length = short_length(read_unit(text));
    if (length < kShortText) [[likely]]
      return length;
  }
  return static_cast<std::uint32_t>(::strnlen(text, wire::kMaxText + 1));
}

/// Puts a text `offset` bytes behind the record.
inline void put_text(RingWriter& ring, std::uint32_t offset, const char* text,
                     std::uint32_t bytes) {
  if (bytes < kShortText && offset == 0 && may_read_unit(text)) [[likely]] {
    put_unit(ring.second_unit(), read_unit(text));
  } else {
    ring.put_extra(offset, text, bytes);
  }
}

}  // namespace headway::inject
