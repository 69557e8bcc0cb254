// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "reference_trainer/comm/backend.h"

namespace headway::trainer {

/// How much of it is measured. The same on all ranks. Tests take less.
struct MeasuredSizes {
  std::int64_t least_bytes = 1 << 10;
  std::int64_t most_bytes = 32 << 20;
  int repetitions = 30;  ///< of small messages; of large ones fewer, but 7 at least
};

/// What the collectives of a backend take between all its ranks, for `headway calibrate`: for each kind, as
/// traces name it, and each size of the full message the times in ns, JSON with `schema` first. The time of
/// one is the least of any rank's, so that waiting for a late rank is not part of it and no common clock is
/// needed. Emulated links are left out. All ranks call it, all get the text. About two seconds.
std::string measure_collectives(CommBackend& backend, const MeasuredSizes& sizes = {});

}  // namespace headway::trainer
