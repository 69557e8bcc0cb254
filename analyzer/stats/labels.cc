// SPDX-License-Identifier: MIT
#include "analyzer/stats/labels.h"

#include <fmt/format.h>

namespace headway::analyzer {

using namespace trace;

std::string_view phase_label(Phase phase) {
  switch (phase) {
    case Phase::kNone:
      return "";
    case Phase::kInput:
      return "input";
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kUpdate:
      return "update";
    case Phase::kCommunication:
      return "communication";
    case Phase::kEvaluation:
      return "evaluation";
  }
  return "";
}

std::string device_label(const Trace& trace, DeviceId id) {
  if (!id.valid()) return "host";
  const Device& device = trace.devices[id.value];
  return device.name.empty() ? fmt::format("device {}", device.ordinal)
                             : fmt::format("device {} ({})", device.ordinal, device.name);
}

Cell rate_cell(std::int64_t amount, std::int64_t ns) {
  return amount > 0 && ns > 0 ? Cell(static_cast<double>(amount) / DurationNs{ns}.seconds())
                              : Cell();
}

bool is_copy_or_set(DeviceOpKind kind) {
  return kind != DeviceOpKind::kKernel && kind != DeviceOpKind::kCommunication;
}

}  // namespace headway::analyzer
