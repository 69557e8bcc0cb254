// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "common/nvtx_conventions.h"

namespace headway::trace::load_detail {

/// The kind of a call of CUDA's runtime or driver, or of AMD's HIP, by its name with or without the
/// version suffix ("cudaLaunchKernel_v7000", "cuLaunchKernelEx", "hipLaunchKernel"). Unknown names
/// are kOther.
conventions::DeviceCallKind cuda_call_kind(std::string_view name);

}  // namespace headway::trace::load_detail
