// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// NVTX's payload ABI (nvToolsExtPayload.h, version 1). These are numbers, without NVTX's header:
/// traces of any producer are read on machines without NVTX, and the values are part of its binary
/// interface.
namespace headway::trace::payload {

inline constexpr std::uint64_t kFlagPointer = 1u << 1;
inline constexpr std::uint64_t kFlagOffsets = 3u << 2;
inline constexpr std::uint64_t kFlagArrayMask = 7u << 4;
inline constexpr std::uint64_t kFlagArrayFixedSize = 1u << 4;
inline constexpr std::uint64_t kFlagArrayZeroTerminated = 2u << 4;
inline constexpr std::uint64_t kFlagArrayLengthIndex = 3u << 4;
inline constexpr std::uint64_t kFlagArrayLengthPayload = 4u << 4;

inline constexpr std::uint64_t kTypeChar = 1;
inline constexpr std::uint64_t kTypeFloat = 19;
inline constexpr std::uint64_t kTypeDouble = 20;
inline constexpr std::uint64_t kTypeLongDouble = 21;
inline constexpr std::uint64_t kTypeWideChar = 24;
inline constexpr std::uint64_t kTypeChar8 = 25;
inline constexpr std::uint64_t kTypeChar16 = 26;
inline constexpr std::uint64_t kTypeChar32 = 27;
inline constexpr std::uint64_t kTypeInt128 = 33;
inline constexpr std::uint64_t kTypeUint128 = 34;
inline constexpr std::uint64_t kTypeFloat16 = 42;
inline constexpr std::uint64_t kTypeFloat32 = 43;
inline constexpr std::uint64_t kTypeFloat64 = 44;
inline constexpr std::uint64_t kTypeFloat128 = 45;
inline constexpr std::uint64_t kTypeBfloat16 = 50;
inline constexpr std::uint64_t kTypeTf32 = 52;
inline constexpr std::uint64_t kTypeCString = 75;
inline constexpr std::uint64_t kTypeCStringUtf8 = 76;
inline constexpr std::uint64_t kTypeCStringUtf16 = 77;
inline constexpr std::uint64_t kTypeCStringUtf32 = 78;
inline constexpr std::uint64_t kTypeRegisteredString = 80;
inline constexpr std::uint64_t kFirstSchemaId = 1u << 24;

inline constexpr std::uint64_t kSchemaDynamic = 2;
inline constexpr std::uint64_t kSchemaUnion = 3;
inline constexpr std::uint64_t kSchemaUnionWithSelector = 4;

inline bool is_signed_type(std::uint64_t type) {
  return type == 1 || (type >= 3 && type <= 17 && type % 2 == 1);  // CHAR, SHORT … INT64 are odd
}
inline bool is_float_type(std::uint64_t type) {
  return type == kTypeFloat || type == kTypeDouble || type == kTypeFloat32 || type == kTypeFloat64;
}

inline double read_float(const std::byte* at, std::size_t size) {
  if (size == 4) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  double value;
  std::memcpy(&value, at, 8);
  return value;
}

inline std::int64_t read_integer(const std::byte* at, std::size_t size, bool is_signed) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, std::min<std::size_t>(size, 8));
  if (is_signed && size < 8 && (bits >> (size * 8 - 1) & 1))
    bits |= ~std::uint64_t{0} << (size * 8);
  return static_cast<std::int64_t>(bits);
}

}  // namespace headway::trace::payload
