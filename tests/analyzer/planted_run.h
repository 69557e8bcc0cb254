// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "analyzer/analysis.h"
#include "tests/support/trace_builder.h"

namespace headway::test {

/// A synthetic training run of one process with one device, made step by step from the times that
/// are planted in it. Thread 1 trains, thread 2 loads, stream 1 computes, stream 2 copies. Times in
/// ns.
struct PlantedRun {
  int steps = 20;
  int kernels = 10;                  ///< per step, forward
  std::int64_t kernel = 100'000;     ///< duration of each
  std::int64_t launch_call = 5'000;  ///< duration of a launch call
  std::int64_t launch_every =
      10'000;  ///< host time from one launch to the next; over `kernel`: launch-bound
  std::int64_t latency = 8'000;  ///< launch to start on an empty queue
  std::int64_t read = 0;    ///< the training thread waits this long per step while the worker reads
  std::int64_t decode = 0;  ///< and then this long while it decodes
  std::int64_t read_bytes = 800;
  bool sync_every_kernel = false;  ///< the host waits for each kernel before it launches the next
  std::int64_t sync_return = 30'000;  ///< how long the host takes to wake up after a wait
  std::int64_t copy = 0;  ///< duration of an exposed copy to the device at the start of the step
  int update_kernels = 1;
  std::int64_t update_kernel = 50'000;
  std::int64_t update_bytes = 1'000'000;  ///< moved by each update kernel

  /// Adds the run to `builder`.
  void build(TraceBuilder& builder) const;
};

/// Builds, loads and analyses. The trace must outlive the analysis, so both are kept.
struct AnalyzedRun {
  explicit AnalyzedRun(const PlantedRun& run);
  explicit AnalyzedRun(TraceBuilder& builder);

  trace::Trace trace;
  analyzer::Analysis analysis;
  const analyzer::Finding& finding(std::string_view rule) const;
  /// Mean time per steady step of the only device.
  std::int64_t ns(analyzer::TimeClass c) const {
    return analysis.partitions.at(0).per_steady_step[c].ns;
  }
};

}  // namespace headway::test
