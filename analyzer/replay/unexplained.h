// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/replay/program.h"

namespace headway::analyzer {

/// Time of the recorded critical path that no constraint requires: some edge is missing, or a delay
/// was longer than 95 % of its kind.
struct Unexplained {
  EdgeKind after = EdgeKind::kDuration;  ///< the constraint that was fulfilled last
  trace::StringId name;                  ///< of the op, call or range that came late; empty: none
  DurationNs time;
};

/// Such time between two slots of the recording, by what came late, largest first.
std::vector<Unexplained> find_unexplained(const Program& program, Slot first, Slot last);

}  // namespace headway::analyzer
