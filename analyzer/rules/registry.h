// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/rules/rule.h"

namespace headway::analyzer {

// Each is defined in the file of its name; all_rules() lists them.
extern const Rule kAmpCasts;
extern const Rule kCopyNotOverlapped;
extern const Rule kHostRoundTrip;
extern const Rule kHostSync;
extern const Rule kInputBound;
extern const Rule kLaunchBound;
extern const Rule kLayoutTransposes;
extern const Rule kLowOccupancy;
extern const Rule kNoTensorCores;
extern const Rule kRnnNotPersistent;
extern const Rule kSerialPerSample;
extern const Rule kSlowStridedDgrad;
extern const Rule kSmallFiles;
extern const Rule kUnfusedAttention;
extern const Rule kUnfusedElementwise;
extern const Rule kUnfusedOptimizer;

}  // namespace headway::analyzer
