// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <functional>
#include <vector>

#include "kernels/cuda/kernel_library.h"
#include "reference_trainer/devices/device.h"

namespace headway::trainer {

using kernels::cuda::Launch;
using kernels::cuda::Launches;

/// A kernel of the CUDA device: queues one or more launches on a stream and returns. Runs every
/// step, so it neither allocates nor waits. Throws errors of the driver.
class CudaKernel : public Kernel {
 public:
  using Send = std::function<void(CUstream, const LaunchArguments&)>;
  explicit CudaKernel(Tag tag, Send send = {}) : Kernel(std::move(tag)), send_(std::move(send)) {}
  /// Queues the launches on the stream, in order.
  virtual void send(CUstream stream, const LaunchArguments& arguments) const {
    send_(stream, arguments);
  }

 private:
  Send send_;
};

/// The part of the launches that differs from step to step; `change` writes it into their
/// parameters.
struct Vary {
  enum class By { kNothing, kRate, kBatch } by = By::kNothing;
  std::function<void(Launches&, const LaunchArguments&)> change;
};

/// Launches of our own kernels, ready to be sent: one set for each slot that the node reads inputs
/// from.
class LaunchesKernel final : public CudaKernel {
 public:
  LaunchesKernel(Tag tag, kernels::cuda::KernelLibrary& library, Vary vary)
      : CudaKernel(std::move(tag)), library_(library), vary_(std::move(vary)) {}

  /// Adds the launches of the next slot and loads their kernels.
  void add(Launches launches);
  /// Removes the launches of all slots.
  void clear() { of_slot_.clear(); }
  void send(CUstream stream, const LaunchArguments& arguments) const override {
    send_each(stream, arguments, [] {});
  }
  /// Calls `sent` after each launch.
  template <class Sent>
  void send_each(CUstream stream, const LaunchArguments& arguments, const Sent& sent) const {
    const Set& set = changed(arguments);
    for (std::size_t i = 0; i < set.launches.size(); ++i) {
      library_.run(stream, set.functions[i], set.launches[i]);
      sent();
    }
  }

  Vary::By varies_by() const { return vary_.by; }
  /// The launches of the arguments' slot, with parameters changed to the arguments.
  struct Set {
    Launches launches;
    std::vector<CUfunction> functions;  ///< by launch
  };
  const Set& changed(const LaunchArguments& arguments) const;

 private:
  kernels::cuda::KernelLibrary& library_;
  Vary vary_;
  mutable std::vector<Set> of_slot_;  ///< parameters change in place; one thread launches
};

}  // namespace headway::trainer
