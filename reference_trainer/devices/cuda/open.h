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
  int place = 0;      ///< index of the GPU among those that the driver shows, modulo their number
  /// Compile elementwise ops and clusters at run time where NVRTC is found; otherwise they are
  /// interpreted.
  bool generate = true;
};

/// Opens a GPU as a device. Throws Error (bad input) that names what this build or this machine
/// lacks.
std::unique_ptr<Device> open_cuda_device(const CudaDeviceOptions& options);

enum class CudaCollectives : std::uint8_t {
  kNccl,  ///< between the GPUs: one for each rank
  kHost,  ///< through the ranks' host memory and the backend
  kAny,   ///< NCCL where every rank can use it, else the host; `note` says why
};
struct GpuRanks {
  LinkModel links;
  CudaCollectives by = CudaCollectives::kAny;
  std::chrono::nanoseconds timeout{0};  ///< a collective that takes longer counts as failed
};
/// Connects the ranks of a run whose devices are GPUs; they meet through `backend`. All ranks must
/// call it. `device` must come from open_cuda_device; it and `backend` must outlive the result.
/// Throws Error (usage, bad input) that says why NCCL cannot be used.
std::unique_ptr<Communicator> connect_gpus(Device& device, CommBackend& backend,
                                           const GpuRanks& ranks, std::string& note);

}  // namespace headway::trainer
