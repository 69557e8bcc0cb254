// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/rules/rule.h"

namespace headway::analyzer {

// Each is defined in the file of its name; all_rules() lists them.
extern const Rule kInputBound;
extern const Rule kSmallFiles;
extern const Rule kHostSync;
extern const Rule kLaunchBound;
extern const Rule kUnfusedElementwise;
extern const Rule kUnfusedOptimizer;
extern const Rule kCopyNotOverlapped;
extern const Rule kStraggler;
extern const Rule kUnevenBatches;
extern const Rule kCommExposed;
extern const Rule kCommNotOverlapped;
extern const Rule kCommTooSmall;
extern const Rule kCommSlowLink;

}  // namespace headway::analyzer
