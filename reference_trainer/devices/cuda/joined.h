// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "reference_trainer/devices/cuda/cuda_kernel.h"

namespace headway::trainer {

/// Kernels as one CUDA graph: captured once from what they send, then launched with one call. What differs from step to
/// step (learning rate, seeds of dropout) is set in the graph's nodes when it has changed.
class JoinedKernel final : public CudaKernel {
 public:
  /// Captures on `stream`, whose work may go on. Throws Error when the driver refuses.
  JoinedKernel(Tag tag, const cuda::Driver& driver, CUstream stream,
               const std::vector<const Kernel*>& kernels, const LaunchArguments& sample);
  ~JoinedKernel() override;
  JoinedKernel(const JoinedKernel&) = delete;
  JoinedKernel& operator=(const JoinedKernel&) = delete;

  void send(CUstream stream, const LaunchArguments& arguments) const override;

 private:
  struct Varying {
    const LaunchesKernel* kernel;
    std::vector<CUgraphNode> nodes;  ///< by launch
  };
  void capture(CUstream stream, const std::vector<const Kernel*>& kernels);
  CUgraphNode last_node(CUstream stream) const;
  void close();

  const cuda::Driver& driver_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
  std::vector<Varying> varying_;
  mutable LaunchArguments set_;  ///< what the executable graph was made or changed for
};

}  // namespace headway::trainer
