// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/context.h"
#include "kernels/cuda/kernel_library.h"
#include "reference_trainer/devices/device.h"

namespace headway::cuda {
class CublasLt;
}

namespace headway::trainer {

/// What the device's ops launch through: one GPU, made current on the thread that made the device.
struct CudaLibraries {
  std::unique_ptr<const cuda::Driver> driver;
  std::unique_ptr<const cuda::Context> context;
  std::unique_ptr<kernels::cuda::KernelLibrary> kernels;
  std::unique_ptr<cuda::CublasLt> products;
};

/// An NVIDIA GPU through the driver's interface: streams, events and memory are the driver's, and so are the rules of
/// device.h. Every call is published as an NVTX range; kernels and copies are not, because CUPTI reports them.
class CudaDevice final : public Device {
 public:
  /// Throws Error (bad input) that says what is missing: driver, GPU, kernels of this build, cuBLASLt.
  CudaDevice();
  /// Finishes all queued work first.
  ~CudaDevice() override;

  const CudaLibraries& libraries() const { return libraries_; }
  const cuda::Driver& driver() const { return *libraries_.driver; }
  kernels::cuda::KernelLibrary& kernels() const { return *libraries_.kernels; }

 private:
  CudaLibraries libraries_;
};

}  // namespace headway::trainer
