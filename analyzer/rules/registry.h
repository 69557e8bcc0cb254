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

}  // namespace headway::analyzer
