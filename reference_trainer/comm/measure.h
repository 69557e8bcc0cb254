// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "reference_trainer/comm/backend.h"

namespace headway::trainer {

/// Message sizes and repetitions of the measurement. Must be the same on all ranks. Tests use smaller
/// values.
struct MeasuredSizes {
  std::int64_t least_bytes = 1 << 10;
  std::int64_t most_bytes = 32 << 20;
  int repetitions = 30;  ///< of each small message; large ones have fewer, but at least 7
};

/// Times the backend's collectives between all its ranks, for `headway calibrate`. Returns JSON, with
/// `schema` first: the times in ns for each kind (named as in traces) and each size of the full
/// message. The time of one collective is that of the fastest rank: this excludes waiting for late
/// ranks and needs no common clock. Delays of emulated links are not included. All ranks must call
/// it; all get the same text. Takes about two seconds.
std::string measure_collectives(CommBackend& backend, const MeasuredSizes& sizes = {});

}  // namespace headway::trainer
