// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "reference_trainer/devices/device.h"

namespace headway::trainer {

struct CudaDeviceOptions {
  bool spin = false;  ///< host threads poll for the GPU instead of sleeping
  /// Elementwise ops and clusters of them are compiled at run time where NVRTC is found, instead of interpreted.
  bool generate = true;
};

/// The first GPU as a device. Throws Error (bad input) that says what this build or this machine lacks.
std::unique_ptr<Device> open_cuda_device(const CudaDeviceOptions& options);

}  // namespace headway::trainer
