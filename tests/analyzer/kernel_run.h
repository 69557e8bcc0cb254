// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analysis.h"

namespace headway::test {

/// A device op of a step. It is launched long before it starts, unless `issued_late`.
struct StepOp {
  std::string name;
  std::int64_t ns = 100'000;
  trace::DeviceOpKind kind = trace::DeviceOpKind::kKernel;
  trace::Phase phase = trace::Phase::kNone;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  std::uint32_t blocks = 0;
  std::int64_t idle = 0;     ///< idle time of the device before the op
  bool issued_late = false;  ///< it is launched only after the previous op has ended
  std::int32_t stream = 1;
  std::int64_t overlap = 0;    ///< by which it starts before the previous op ends
  std::int64_t sequence = -1;  ///< number of the autograd range around its launch; -1: no range
};

/// Steps on one device that all run the same `ops`, back to back. The device idles only for `idle`.
struct KernelRun {
  std::vector<StepOp> ops;
  int steps = 10;
  std::string device = "NVIDIA A100-SXM4-80GB";
  trace::DeviceType type = trace::DeviceType::kCuda;

  /// Appends `op`, `times` times.
  KernelRun& add(const StepOp& op, int times = 1);
};

/// The trace of a run, and its analysis.
struct AnalyzedKernels {
  explicit AnalyzedKernels(const KernelRun& run);

  trace::Trace trace;
  analyzer::Analysis analysis;
  /// Throws std::out_of_range if the rule is unknown.
  const analyzer::Finding& finding(std::string_view rule) const;
};

}  // namespace headway::test
