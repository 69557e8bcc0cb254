// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/time.h"

namespace headway::analyzer {

/// What a nanosecond of a step on a device was spent on. The classes of a step sum to the step
/// exactly.
enum class TimeClass : std::uint8_t {
  kComputeTensor,
  kComputeOther,
  kOptimizer,
  kCommTransfer,
  kStragglerWait,
  kH2d,
  kD2hOther,
  kIoRead,
  kDecode,
  kInputOther,
  kLaunchGap,
  kFrontendGap,
  kHostSync,
  kAllocator,
  kHostOther,
  kBetweenSteps,
  kProfiler,
  kUnknown,
  kCount_,  ///< number of classes, not one itself
};
inline constexpr std::size_t kTimeClassCount = static_cast<std::size_t>(TimeClass::kCount_);

/// Classes that a reader thinks of together.
enum class TimeGroup : std::uint8_t {
  kCompute,
  kCommunication,
  kCopy,
  kInput,
  kHost,
  kBetween,  ///< what the program does between its steps
  kOther
};

struct TimeClassInfo {
  TimeClass time_class;
  std::string_view id;     ///< "launch_gap": in JSON, CSV, budgets; stable
  std::string_view label;  ///< "Launch gap": for people
  std::string_view doc;    ///< what it is, one sentence
  TimeGroup group;
  std::uint32_t rgb;  ///< 0xRRGGBB, safe for the common kinds of colour blindness; neighbours
                      ///< differ in lightness
};
/// All classes in order; docs/reference/time-classes.md is made from it.
std::span<const TimeClassInfo, kTimeClassCount> time_classes();
const TimeClassInfo& info(TimeClass time_class);

/// Time per class.
struct ClassTimes {
  std::array<DurationNs, kTimeClassCount> of{};

  DurationNs& operator[](TimeClass c) { return of[static_cast<std::size_t>(c)]; }
  DurationNs operator[](TimeClass c) const { return of[static_cast<std::size_t>(c)]; }
  DurationNs total() const;
  DurationNs of_group(TimeGroup group) const;
  ClassTimes& operator+=(const ClassTimes& other);
};

/// `sum` divided by `count`. The parts are rounded so that they add up to the quotient of the total:
/// what is shown of a step sums to the step. Zero for no count.
ClassTimes mean_of(const ClassTimes& sum, std::int64_t count);

}  // namespace headway::analyzer
