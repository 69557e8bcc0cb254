// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "reference_trainer/comm/backend.h"

namespace headway::trainer {

/// How much is measured. Must be the same on all ranks. Tests use smaller values.
struct MeasuredSizes {
  std::int64_t least_bytes = 1 << 10;
  std::int64_t most_bytes = 32 << 20;
  int repetitions = 30;  ///< for small messages; fewer for large ones, but at least 7
};

/// Measures the collectives of a backend between all its ranks, for `headway calibrate`. Returns
/// JSON, with `schema` first: for each kind, as traces name it, and each size of the full message,
/// the times in ns. The time of one collective is the least of any rank's, so that waiting for a
/// late rank is not part of it and no common clock is needed. Emulated links are left out. All
/// ranks must call it; all get the text. Takes about two seconds.
std::string measure_collectives(CommBackend& backend, const MeasuredSizes& sizes = {});

}  // namespace headway::trainer
