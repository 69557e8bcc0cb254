// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headway::trace {

enum class Severity : std::uint8_t {
  kInfo,   ///< no effect on any figure
  kDoubt,  ///< figures may be off
  kLoss,   ///< data is missing
};
std::string_view severity_name(Severity severity);

/// Everything that can be lost, repaired or set aside, each with a counter: Headway drops nothing
/// silently. Declared once (loss_counters.cc); names are stored in HEADWAY_LOSS and are never
/// reused.
enum class Loss : std::uint8_t {
  // while recording
  kRingFull,
  kThreadsWithoutRing,
  kProcessNotInjected,
  kNvtxPopWithoutPush,
  kNvtxPayloadCut,
  kNvtxUnknownHandle,
  kSharedMemoryCorrupt,
  kDiskFull,
  kClockStep,
  kReentrantEvent,
  kCuptiDropped,
  kIoPathFolded,
  kIoNotFollowed,
  // while reading
  kNegativeDuration,
  kTimeOutOfRange,
  kOrphanDeviceOp,
  kDuplicateCorrelation,
  kOpBeforeLaunch,
  kUnknownString,
  kMissingTable,
  kDanglingRow,
  kFileCut,
  kMalformedRecord,
  kRepairedText,
  kMissingDuration,
  kUnpairedEvent,
  kUnreadableValue,
  kUnknownEvent,
  kCount_,  ///< number of counters; not a counter
};

struct LossDeclaration {
  Loss loss;
  std::string_view name;
  Severity severity;
  std::string_view text;  ///< the meaning and what to do, one sentence
};
std::span<const LossDeclaration> loss_declarations();
const LossDeclaration& declaration_of(Loss loss);

}  // namespace headway::trace
