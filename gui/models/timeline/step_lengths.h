// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/analysis.h"

namespace headway::gui {

/// The duration of each step of Steps::all. On the device with the highest step cost among those
/// that worked for the step, so that the durations match the step cost. For steps without device
/// work: on the training thread, up to the begin of the next step. The ruler, the pages and the
/// details all show this duration.
struct StepLengths {
  std::vector<DurationNs> length;
  std::vector<bool> on_device;
};
StepLengths step_lengths(const analyzer::Analysis& analysis);

/// The step of an event, as an index into Steps::all. On a device: the step whose work is done at
/// the event's begin, which the host may have left long before. On the host: the step of the
/// event's own process. None outside all steps.
std::optional<std::uint32_t> step_of(const trace::Trace& trace, const analyzer::Analysis& analysis,
                                     analyzer::EventRef event);
/// The step for which a device or a training thread works at `time`.
std::optional<std::uint32_t> step_at(const analyzer::DevicePartition& partition, TimeNs time);

}  // namespace headway::gui
