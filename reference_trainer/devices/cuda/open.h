// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/device.h"

namespace headway::trainer {

struct CudaDeviceOptions {
  bool spin = false;  ///< host threads poll for the GPU instead of sleeping
  int place =
      0;  ///< which of the GPUs that the driver shows; where there are fewer, counted around
};

/// A GPU as a device. Throws Error (bad input) that says what this build or this machine lacks.
std::unique_ptr<Device> open_cuda_device(const CudaDeviceOptions& options);

enum class CudaCollectives : std::uint8_t {
  kNccl,  ///< between the GPUs: one for each rank
  kHost,  ///< through the ranks' host memory and the backend
  kAny,   ///< NCCL where every rank can, else the other; `note` says why
};
struct GpuRanks {
  LinkModel links;
  CudaCollectives by = CudaCollectives::kAny;
  std::chrono::nanoseconds timeout{0};  ///< a collective that takes longer has failed
};
/// The ranks of a run whose devices are GPUs, which meet through `backend`. All ranks call it. `device` must be open_cuda_device's;
/// it and `backend` must outlive the result. Throws Error (usage, bad input) that says why NCCL cannot be had.
std::unique_ptr<Communicator> connect_gpus(Device& device, CommBackend& backend,
                                           const GpuRanks& ranks, std::string& note);

}  // namespace headway::trainer
