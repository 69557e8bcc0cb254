// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "tests/support/trace_builder.h"

namespace headway::test {

/// A training run as a real one looks: loader workers that read, decode, augment and collate
/// batches, a training thread that waits for them, launches the ops of a small residual network
/// forward and backward, updates and reads the loss; a compute and a copy stream; counters, graph
/// and settings. Times vary from step to step, reproducibly. With the defaults the loaders are too
/// slow and the run is input-bound.
struct TrainingTrace {
  int steps = 40;
  int workers = 2;
  int blocks = 6;  ///< of the network: 2 x (convolution, batch norm, ReLU) and an addition each
  std::int64_t read = 9'000'000;  ///< of a batch, in ns; made of many small reads
  std::int64_t decode = 48'000'000;
  std::int64_t augment = 12'000'000;
  std::int64_t collate = 4'000'000;
  std::int64_t conv = 420'000;  ///< a convolution's kernel, forward
  int small_files = 8;          ///< reads per batch

  void build(TraceBuilder& builder) const;
};

}  // namespace headway::test
