// SPDX-License-Identifier: MIT
// Replaces this folder in a build without CUDA.
#include "common/error.h"
#include "reference_trainer/devices/cuda/open.h"

namespace headway::trainer {

std::unique_ptr<Device> open_cuda_device(const CudaDeviceOptions&) {
  fail_input(
      "device cuda: this Headway was built with HEADWAY_CUDA=OFF. Build it with -DHEADWAY_CUDA=ON, "
      "or train on the processor with --device host.");
}

std::unique_ptr<Communicator> connect_gpus(Device&, CommBackend&, const GpuRanks&, std::string&) {
  return nullptr;  // no device exists for this call
}

}  // namespace headway::trainer
