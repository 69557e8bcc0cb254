// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/analysis.h"

namespace headway::gui {

/// How long each step of Steps::all took: on the device with the highest step cost among those that worked for
/// it, so that its steps are those of the step cost. On the training thread, to the begin of the next step,
/// for steps without device work. The ruler, the pages and the details all show this duration.
struct StepLengths {
  std::vector<DurationNs> length;
  std::vector<bool> on_device;
};
StepLengths step_lengths(const analyzer::Analysis& analysis);

/// The step that an event belongs to, as index into Steps::all: on a device the one whose work is done at its begin,
/// which the host may have left long ago; on the host the one of its own process. None outside of all steps.
std::optional<std::uint32_t> step_of(const trace::Trace& trace, const analyzer::Analysis& analysis,
                                     analyzer::EventRef event);
/// The step that a device, or a training thread, works for at a time.
std::optional<std::uint32_t> step_at(const analyzer::DevicePartition& partition, TimeNs time);

}  // namespace headway::gui
