// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cwchar>

namespace headway::inject {

/// Writes the UTF-8 form of one wide character (UTF-32 on Linux) to `out` and returns its length.
/// An invalid character becomes U+FFFD.
inline std::uint32_t encode_utf8(wchar_t wide, char out[4]) {
  std::uint32_t c =
      static_cast<std::uint32_t>(wide);  // NOLINT(bugprone-signed-char-misuse): 32 bits
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    out[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<char>(0xc0 | c >> 6);
    out[1] = tail(0);
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<char>(0xe0 | c >> 12);
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | c >> 18);
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

/// Bytes of the UTF-8 form of a zero-terminated wide text: whole characters, at most `limit` bytes.
/// `cut` says whether the text is longer.
inline std::uint32_t utf8_length(const wchar_t* text, std::uint32_t limit, bool& cut) {
  std::uint32_t bytes = 0;
  char scratch[4];
  for (; *text; ++text) {
    std::uint32_t length = encode_utf8(*text, scratch);
    if (bytes + length > limit) {
      cut = true;
      return bytes;
    }
    bytes += length;
  }
  cut = false;
  return bytes;
}

}  // namespace headway::inject
