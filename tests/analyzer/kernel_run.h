// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analysis.h"

namespace headway::test {

/// A device op of a step, with a launch long before it unless told otherwise.
struct StepOp {
  std::string name;
  std::int64_t ns = 100'000;
  trace::DeviceOpKind kind = trace::DeviceOpKind::kKernel;
  trace::Phase phase = trace::Phase::kNone;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  std::uint32_t blocks = 0;
  std::int64_t idle = 0;     ///< of the device before it
  bool issued_late = false;  ///< its call starts when the op before it has ended
  std::int32_t stream = 1;
  std::int64_t overlap = 0;    ///< starts so much before the end of the op before it
  std::int64_t sequence = -1;  ///< autograd's number of the range around its launch
};

/// `ops` in a row on one device, the same in each of ten steps; the device waits only where told to.
struct KernelRun {
  std::vector<StepOp> ops;
  int steps = 10;
  std::string device = "NVIDIA A100-SXM4-80GB";
  trace::DeviceType type = trace::DeviceType::kCuda;

  /// The same op so many times.
  KernelRun& add(const StepOp& op, int times = 1);
};

struct AnalyzedKernels {
  explicit AnalyzedKernels(const KernelRun& run);

  trace::Trace trace;
  analyzer::Analysis analysis;
  const analyzer::Finding& finding(std::string_view rule) const;
};

}  // namespace headway::test
