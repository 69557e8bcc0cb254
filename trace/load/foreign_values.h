// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "trace/trace.h"

/// Brings values of a file into the range on which the rest of Headway relies without checks: an
/// enum has one of its values, an amount can be summed, an id is absent or not negative.
namespace headway::trace::load_detail {

/// The last value of a persisted enum; its values have no gaps.
template <class Enum>
inline constexpr Enum kLastOf = Enum{};
template <>
inline constexpr DeviceOpKind kLastOf<DeviceOpKind> = DeviceOpKind::kCopyHostToHost;
template <>
inline constexpr DeviceCallKind kLastOf<DeviceCallKind> = DeviceCallKind::kGraphLaunch;
template <>
inline constexpr MathUnit kLastOf<MathUnit> = MathUnit::kTensor;
template <>
inline constexpr MemoryKind kLastOf<MemoryKind> = MemoryKind::kManaged;
template <>
inline constexpr Phase kLastOf<Phase> = Phase::kEvaluation;
template <>
inline constexpr RangeKind kLastOf<RangeKind> = RangeKind::kSample;
template <>
inline constexpr IoOp kLastOf<IoOp> = IoOp::kMap;
template <>
inline constexpr Overhead::Kind kLastOf<Overhead::Kind> = Overhead::Kind::kAllocation;

/// The first value of the enum: DeviceOpKind and IoOp begin at 1.
template <class Enum>
inline constexpr std::int64_t kFirstOf = 0;
template <>
inline constexpr std::int64_t kFirstOf<DeviceOpKind> = 1;
template <>
inline constexpr std::int64_t kFirstOf<IoOp> = 1;

template <class Enum>
constexpr bool is_value_of(std::int64_t value) {
  static_assert(static_cast<std::int64_t>(kLastOf<Enum>) > 0, "declare its last value");
  return value >= kFirstOf<Enum> && value <= static_cast<std::int64_t>(kLastOf<Enum>);
}

/// `fallback` for a value that this version does not know.
template <class Enum>
constexpr Enum enum_or(std::int64_t value, Enum fallback) {
  return is_value_of<Enum>(value) ? static_cast<Enum>(value) : fallback;
}

/// A pebibyte per event: more than any event has, and thousands of such values can be added.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
inline constexpr std::int64_t kMostFlops = std::int64_t{1} << 59;

constexpr std::int64_t bytes_of(std::int64_t value) {
  return std::clamp<std::int64_t>(value, 0, kMostBytes);
}
constexpr std::int64_t flops_of(std::int64_t value) {
  return std::clamp<std::int64_t>(value, 0, kMostFlops);
}
/// A count that fits `T`, 0 for a negative one.
template <class T = std::int32_t>
constexpr T count_of(std::int64_t value) {
  constexpr auto kMost = static_cast<std::int64_t>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp<std::int64_t>(value, 0, kMost));
}
/// Larger than any number that a program uses; id + 1 and differences of two ids do not overflow.
inline constexpr std::int64_t kMostId = std::int64_t{1} << 60;

/// For graph op, batch, step and sequence: kAbsent when missing, negative, or beyond kMostId.
constexpr std::int64_t id_of(std::optional<std::int64_t> value) {
  const std::int64_t id = value.value_or(conventions::kAbsent);
  return id >= 0 && id <= kMostId ? id : conventions::kAbsent;
}
/// The same in 32 bits: absent when it is larger.
constexpr std::int32_t small_id_of(std::int64_t value) {
  const bool fits = value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
  return fits ? static_cast<std::int32_t>(value) : -1;
}

/// No job has more ranks.
inline constexpr std::int64_t kMostRanks = std::int64_t{1} << 20;
constexpr std::int32_t rank_of(std::int64_t value) {
  return value >= 0 && value < kMostRanks ? static_cast<std::int32_t>(value) : 0;
}
constexpr std::int32_t ranks_of(std::int64_t value) {
  return value >= 0 && value <= kMostRanks ? static_cast<std::int32_t>(value) : 0;
}

}  // namespace headway::trace::load_detail
