// SPDX-License-Identifier: MIT
#include "analyzer/rules/registry.h"

#include <array>

namespace headway::analyzer {

std::span<const Rule* const> all_rules() {
  static constexpr auto kRules = std::to_array<const Rule*>({
      &kGraphCapture,
      &kUnrecordedDeviceWork,
      &kInputBound,
      &kWorkersStarved,
      &kWorkersOversubscribed,
      &kSmallFiles,
      &kSlowStorage,
      &kHostSync,
      &kHostRoundTrip,
      &kModuleLoad,
      &kAllocator,
      &kLaunchBound,
      &kHostBound,
      &kCopyNotOverlapped,
      &kPageableCopy,
      &kStraggler,
      &kExpertImbalance,
      &kUnevenBatches,
      &kCommExposed,
      &kPipelineBubble,
      &kLateAllGather,
      &kCommNotOverlapped,
      &kUnbucketedCollectives,
      &kCommTooSmall,
      &kCommSlowLink,
      &kNoTensorCores,
      &kFullPrecision,
      &kInferencePrecision,
      &kGemmEfficiency,
      &kUnfusedAttention,
      &kUnfusedElementwise,
      &kAmpCasts,
      &kLayoutTransposes,
      &kUnfusedOptimizer,
      &kSerialPerSample,
      &kRnnNotPersistent,
      &kSlowStridedDgrad,
      &kRecomputation,
      &kPadding,
      &kLowOccupancy,
      &kMemoryHeadroom,
      &kClockThrottled,
      &kEvaluationTime,
      &kCheckpointTime,
      &kLoggingTime,
      &kGarbageCollection,
      &kLoaderRestart,
      &kHostPauses,
      &kStepOutlier,
      &kStepGrowth,
      &kLongStartup,
      &kCompileTime,
      &kMemoryGrowth,
  });
  return kRules;
}

}  // namespace headway::analyzer
