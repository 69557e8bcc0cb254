// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/kernels/families.h"
#include "analyzer/steps/range_names.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What the recorded program does with its model.
enum class ProgramMode : std::uint8_t {
  kUnknown,    ///< the recording has no framework's operators and no sign of an update
  kTraining,   ///< a backward pass or an update of weights was recorded
  kInference,  ///< operators or an inference engine were recorded, and nothing of training
};
std::string_view program_mode_id(ProgramMode mode);  ///< "unknown", "training", "inference": stable

/// Frameworks whose traces are known by what they leave in a recording.
enum class Framework : std::uint8_t {
  kPyTorch = 1,
  kJax = 2,
  kTensorFlow = 4,
  kHeadwayTrain = 8,
};

/// What kind of program was recorded. Rules and reports choose their advice by it.
struct ProgramFacts {
  ProgramMode mode = ProgramMode::kUnknown;
  std::uint8_t frameworks = 0;  ///< Framework values, or-ed; 0: none was recognised
  bool on_device = true;        ///< else the processor computes, as far as the recording shows

  bool uses(Framework framework) const {
    return (frameworks & static_cast<std::uint8_t>(framework)) != 0;
  }
  bool is_inference() const { return mode == ProgramMode::kInference; }
  /// Whether advice for `framework`, as findings label it ("PyTorch", "TensorFlow/JAX",
  /// "headway-train"), fits this program. Where no framework was recognised, all advice fits but
  /// that for the reference trainer.
  bool advice_fits(std::string_view framework) const;
  /// `knob` without arguments that do nothing in this program: pinned memory helps only with a device.
  std::string fitting_knob(std::string_view knob) const;
};

/// One pass over the names of ranges, the phases of ops and the names of kernels.
ProgramFacts find_program(const trace::Trace& trace, const RangeNames& names,
                          const KernelNames& kernels);

}  // namespace headway::analyzer
