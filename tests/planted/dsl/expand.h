// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/planted/dsl/action.h"
#include "tests/planted/dsl/case.h"

namespace headway::planted {

/// The loader of one rank: how far its workers may run ahead.
struct LoaderPlan {
  int workers = 0;
  int prefetch = 2;  ///< batches per worker
  DurationNs handover{100'000};
};

/// A case unrolled: what exists, and what each thread does.
struct Plan {
  Recording world;  ///< processes, threads, devices, streams; no events yet
  std::vector<Program> programs;
  std::vector<LoaderPlan> loaders;  ///< per rank
};

/// Throws Error(kBadInput) with file and line for what cannot be run.
Plan expand(const Case& c);

}  // namespace headway::planted
