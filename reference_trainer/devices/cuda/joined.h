// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "reference_trainer/devices/cuda/cuda_kernel.h"

namespace headway::trainer {

/// Kernels joined into one CUDA graph: captured once, then launched with one call. Arguments that vary by step
/// (learning rate, dropout seeds) are updated in the graph's nodes when they change.
class JoinedKernel final : public CudaKernel {
 public:
  /// Captures on `stream`, which may have unfinished work. Throws Error when the driver refuses.
  JoinedKernel(Tag tag, const cuda::Driver& driver, CUstream stream,
               const std::vector<const Kernel*>& kernels, const LaunchArguments& sample);
  ~JoinedKernel() override;
  JoinedKernel(const JoinedKernel&) = delete;
  JoinedKernel& operator=(const JoinedKernel&) = delete;

  void send(CUstream stream, const LaunchArguments& arguments) const override;

 private:
  /// A kernel whose arguments differ from step to step, and its nodes in the graph.
  struct Varying {
    const LaunchesKernel* kernel;
    std::vector<CUgraphNode> nodes;  ///< one per launch
  };
  void capture(CUstream stream, const std::vector<const Kernel*>& kernels);
  CUgraphNode last_node(CUstream stream) const;
  void close();

  const cuda::Driver& driver_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
  std::vector<Varying> varying_;
  mutable LaunchArguments set_;  ///< the arguments that the executable graph currently has
};

}  // namespace headway::trainer
