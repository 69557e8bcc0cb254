// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "collector/inject/ring_writer.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// Names of ranges are mostly shorter than a unit: for those, length and copy without calls into
/// the C library (8 of 47 ns a pair). As strlen does, this reads beyond the end of the text, never
/// into another page.
namespace headway::inject {

inline constexpr std::uint32_t kShortText = wire::kUnit;

#ifdef __SSE2__
inline bool may_read_unit(const char* text) {
  return (reinterpret_cast<std::uintptr_t>(text) & 4095) <= 4096 - kShortText;
}

/// Length of a text of less than kShortText bytes; kShortText for a longer one.
__attribute__((no_sanitize("address", "thread"))) inline std::uint32_t short_length(
    const char* text) {
  const __m128i zero = _mm_setzero_si128();
  const auto* from = reinterpret_cast<const __m128i*>(text);
  auto low =
      static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(from), zero)));
  auto high = static_cast<std::uint32_t>(
      _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(from + 1), zero)));
  std::uint32_t ends = low | high << 16;
  return ends ? static_cast<std::uint32_t>(__builtin_ctz(ends)) : kShortText;
}

__attribute__((no_sanitize("address", "thread"))) inline void copy_unit(std::byte* to,
                                                                        const char* text) {
  const auto* from = reinterpret_cast<const __m128i*>(text);
  auto* target = reinterpret_cast<__m128i*>(to);
  _mm_store_si128(target, _mm_loadu_si128(from));
  _mm_store_si128(target + 1, _mm_loadu_si128(from + 1));
}
#else
inline bool may_read_unit(const char*) {
  return false;
}
inline std::uint32_t short_length(const char*) {
  return kShortText;
}
inline void copy_unit(std::byte*, const char*) {}
#endif

/// Length of a text, at most kMaxText + 1.
inline std::uint32_t text_length(const char* text) {
  if (may_read_unit(text)) [[likely]] {
    std::uint32_t length = short_length(text);
    if (length < kShortText) [[likely]]
      return length;
  }
  return static_cast<std::uint32_t>(::strnlen(text, wire::kMaxText + 1));
}

/// Puts a text `offset` bytes behind the record.
inline void put_text(RingWriter& ring, std::uint32_t offset, const char* text,
                     std::uint32_t bytes) {
  if (bytes < kShortText && offset == 0 && may_read_unit(text)) [[likely]] {
    copy_unit(ring.second_unit(), text);
  } else {
    ring.put_extra(offset, text, bytes);
  }
}

}  // namespace headway::inject
