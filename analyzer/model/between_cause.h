// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/time.h"

namespace headway::analyzer {

/// What a program does between two steps, as the names of its ranges tell.
enum class BetweenCause : std::uint8_t {
  kOther,  ///< no range says what
  kEvaluation,
  kCheckpoint,
  kLogging,
  kLoaderRestart,
  kGarbageCollection,
  kCount_,  ///< number of causes, not one itself
};
inline constexpr std::size_t kBetweenCauseCount = static_cast<std::size_t>(BetweenCause::kCount_);

/// True when the cause comes equally often in each run of the program.
constexpr bool is_on_schedule(BetweenCause cause) {
  return cause == BetweenCause::kEvaluation || cause == BetweenCause::kCheckpoint ||
         cause == BetweenCause::kLogging || cause == BetweenCause::kLoaderRestart;
}

struct BetweenCauseInfo {
  BetweenCause cause;
  std::string_view id;     ///< "loader_restart": in JSON; stable
  std::string_view label;  ///< "workers restart": for people
};
/// All causes in the order of the enum.
std::span<const BetweenCauseInfo, kBetweenCauseCount> between_causes();

/// Time between steps by cause.
struct BetweenTimes {
  std::array<DurationNs, kBetweenCauseCount> of{};

  DurationNs& operator[](BetweenCause c) { return of[static_cast<std::size_t>(c)]; }
  DurationNs operator[](BetweenCause c) const { return of[static_cast<std::size_t>(c)]; }
};

}  // namespace headway::analyzer
