// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/diff/diff.h"

namespace headway::analyzer {

/// What makes the first runs of both sides different programs, the gravest first.
std::vector<Difference> differences_of(const DiffRun& a, const DiffRun& b);

/// "batch 32 → 64, model resnet → gnmt".
std::string to_text(const std::vector<Difference>& differences);

/// True when both ran on the same type of device (CUDA, host, simulated), or both on none.
bool same_device_type(const DiffRun& a, const DiffRun& b);

/// The share of device time of each side that is in ops which both sides have, from the diff's table
/// of ops; nullopt where either has no ops.
struct CommonWork {
  double of_a = 0;
  double of_b = 0;
};
std::optional<CommonWork> common_work(const Table* ops);

}  // namespace headway::analyzer
