// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/partition/partition.h"
#include "analyzer/replay/program.h"
#include "analyzer/steps/steps.h"

namespace headway::analyzer {

/// A moment of the recording as the program knows it: some time after a slot.
struct Marker {
  Slot slot;
  DurationNs after;
};

/// A steady step of one device or training thread, from its begin to its end; of a recording
/// without steps its whole span.
struct MarkedStep {
  std::uint32_t step = 0;  ///< index into Steps::all
  Marker begin;
  Marker end;
};

/// The steady steps that a prediction is about.
struct MarkedSteps {
  std::size_t partition = 0;  ///< of the analysis: the device or thread with the longest mean step
  std::vector<MarkedStep> steps;  ///< by time
  std::string missing;            ///< why there are none; empty when there are some
};

/// Finds them. Without calls and without device ops nothing can be marked.
MarkedSteps mark_steps(const Program& program, const Steps& steps,
                       const std::vector<DevicePartition>& partitions);

inline std::int64_t time_of(const Marker& marker, const std::vector<std::int64_t>& times) {
  return times[marker.slot.value] + marker.after.ns;
}

}  // namespace headway::analyzer
