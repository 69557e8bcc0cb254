// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

// Each is defined in the file of its name; all_rules() lists them.
extern const Rule kAllocator;
extern const Rule kAmpCasts;
extern const Rule kClockThrottled;
extern const Rule kCopyNotOverlapped;
extern const Rule kGraphCapture;
extern const Rule kHostBound;
extern const Rule kHostPauses;
extern const Rule kHostRoundTrip;
extern const Rule kHostSync;
extern const Rule kInputBound;
extern const Rule kLateAllGather;
extern const Rule kLaunchBound;
extern const Rule kLayoutTransposes;
extern const Rule kLongStartup;
extern const Rule kLowOccupancy;
extern const Rule kMemoryGrowth;
extern const Rule kMemoryHeadroom;
extern const Rule kModuleLoad;
extern const Rule kNoTensorCores;
extern const Rule kFullPrecision;
extern const Rule kInferencePrecision;
extern const Rule kGemmEfficiency;
extern const Rule kPadding;
extern const Rule kPageableCopy;
extern const Rule kPipelineBubble;
extern const Rule kRecomputation;
extern const Rule kRnnNotPersistent;
extern const Rule kSerialPerSample;
extern const Rule kSlowStorage;
extern const Rule kSlowStridedDgrad;
extern const Rule kSmallFiles;
extern const Rule kEvaluationTime;
extern const Rule kExpertImbalance;
extern const Rule kCheckpointTime;
extern const Rule kLoggingTime;
extern const Rule kGarbageCollection;
extern const Rule kLoaderRestart;
extern const Rule kStepGrowth;
extern const Rule kStepOutlier;
extern const Rule kCompileTime;
extern const Rule kUnfusedAttention;
extern const Rule kUnfusedElementwise;
extern const Rule kUnfusedOptimizer;
extern const Rule kCommExposed;
extern const Rule kCommNotOverlapped;
extern const Rule kCommSlowLink;
extern const Rule kCommTooSmall;
extern const Rule kStraggler;
extern const Rule kUnevenBatches;
extern const Rule kUnbucketedCollectives;
extern const Rule kUnrecordedDeviceWork;
extern const Rule kWorkersOversubscribed;
extern const Rule kWorkersStarved;

/// All rules. The order breaks ties between findings of equal recoverable time: causes before
/// refinements.
std::span<const Rule* const> all_rules();

}  // namespace headway::analyzer
