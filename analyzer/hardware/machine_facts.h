// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "common/machine_figures.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Where a figure is from. Stable ids: "recording", "calibration", "table", "default".
enum class FactOrigin : std::uint8_t {
  kRecording,    ///< the recording itself shows it often enough
  kCalibration,  ///< `headway calibrate` measured it
  kTable,        ///< the table of figures by model, with a source
  kDefault,      ///< one value for all machines
};
std::string_view origin_id(FactOrigin origin);

struct MachineFact {
  FigureValue value;
  FactOrigin origin = FactOrigin::kDefault;
  std::string source;  ///< "measured 2026-11-22 on NVIDIA H200", "table: h100-sxm, …"
};

/// A collective as it was measured on the machine, with the number of ranks that is nearest to the wanted one.
struct CollectiveFact {
  MeasuredCollective value;
  std::string source;  ///< "measured 2026-11-22 on AMD EPYC"
};

/// What is known of machines beyond a recording: the calibration if it is of the recorded machine, else the
/// table by model. Immutable.
class MachineFacts {
 public:
  /// Without a calibration.
  MachineFacts() = default;
  explicit MachineFacts(MachineCalibration calibration) : calibration_(std::move(calibration)) {}

  /// A figure of a device, found by its name.
  std::optional<MachineFact> of(const trace::Device& device, MachineFigure figure) const;
  /// A figure of the recorded host; none unless the calibration is of its processor.
  std::optional<MachineFact> of_host(const trace::Trace& trace, MachineFigure figure) const;
  /// A measured collective of `backend` ("nccl") between ranks on devices with this name.
  std::optional<CollectiveFact> collective(const trace::Device& device, std::string_view backend,
                                           std::string_view kind, int ranks) const;
  /// The same between processes of the recorded host.
  std::optional<CollectiveFact> host_collective(const trace::Trace& trace, std::string_view backend,
                                                std::string_view kind, int ranks) const;
  /// True when the calibration is of a device or of the processor in the recording.
  bool fits(const trace::Trace& trace) const;

 private:
  const MeasuredDevice* measured(const trace::Device& device) const;
  bool is_host(const trace::Trace& trace) const;

  std::optional<MachineCalibration> calibration_;
};

}  // namespace headway::analyzer
