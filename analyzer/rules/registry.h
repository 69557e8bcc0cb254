// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// The only list of rules; each is defined in the file of its name. The order breaks ties between findings of equal recoverable
/// time: causes before refinements.
#define HEADWAY_RULES(RULE)    \
  RULE(kGraphCapture)          \
  RULE(kUnrecordedDeviceWork)  \
  RULE(kInputBound)            \
  RULE(kWorkersStarved)        \
  RULE(kWorkersOversubscribed) \
  RULE(kSmallFiles)            \
  RULE(kSlowStorage)           \
  RULE(kHostSync)              \
  RULE(kHostRoundTrip)         \
  RULE(kModuleLoad)            \
  RULE(kAllocator)             \
  RULE(kLaunchBound)           \
  RULE(kKernelGaps)            \
  RULE(kHostBound)             \
  RULE(kCopyNotOverlapped)     \
  RULE(kPageableCopy)          \
  RULE(kStraggler)             \
  RULE(kExpertImbalance)       \
  RULE(kUnevenBatches)         \
  RULE(kCommExposed)           \
  RULE(kCommEachBatch)         \
  RULE(kPipelineBubble)        \
  RULE(kLateAllGather)         \
  RULE(kCommNotOverlapped)     \
  RULE(kUnbucketedCollectives) \
  RULE(kCommTooSmall)          \
  RULE(kCommSlowLink)          \
  RULE(kNoTensorCores)         \
  RULE(kFullPrecision)         \
  RULE(kInferencePrecision)    \
  RULE(kGemmEfficiency)        \
  RULE(kUnfusedAttention)      \
  RULE(kUnfusedElementwise)    \
  RULE(kAmpCasts)              \
  RULE(kLayoutTransposes)      \
  RULE(kUnfusedOptimizer)      \
  RULE(kSerialPerSample)       \
  RULE(kRnnNotPersistent)      \
  RULE(kSlowStridedDgrad)      \
  RULE(kRecomputation)         \
  RULE(kPadding)               \
  RULE(kLowOccupancy)          \
  RULE(kMemoryHeadroom)        \
  RULE(kClockThrottled)        \
  RULE(kEvaluationTime)        \
  RULE(kCheckpointTime)        \
  RULE(kLoggingTime)           \
  RULE(kGarbageCollection)     \
  RULE(kPageFaults)            \
  RULE(kLoaderRestart)         \
  RULE(kHostPauses)            \
  RULE(kStepOutlier)           \
  RULE(kStepGrowth)            \
  RULE(kLongStartup)           \
  RULE(kCompileTime)           \
  RULE(kMemoryGrowth)

#define HEADWAY_DECLARE_RULE(name) extern const Rule name;
HEADWAY_RULES(HEADWAY_DECLARE_RULE)
#undef HEADWAY_DECLARE_RULE

/// All rules, in the order of the list.
std::span<const Rule* const> all_rules();

}  // namespace headway::analyzer
