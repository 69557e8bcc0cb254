// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/rules/rule.h"

namespace headway::analyzer {

// Each is defined in the file of its name; all_rules() lists them.
extern const Rule kAllocator;
extern const Rule kClockThrottled;
extern const Rule kCopyNotOverlapped;
extern const Rule kHostSync;
extern const Rule kInputBound;
extern const Rule kLaunchBound;
extern const Rule kLongStartup;
extern const Rule kMemoryHeadroom;
extern const Rule kModuleLoad;
extern const Rule kPageableCopy;
extern const Rule kSlowStorage;
extern const Rule kSmallFiles;
extern const Rule kStepOutlier;
extern const Rule kUnfusedElementwise;
extern const Rule kUnfusedOptimizer;
extern const Rule kWorkersOversubscribed;
extern const Rule kWorkersStarved;

}  // namespace headway::analyzer
