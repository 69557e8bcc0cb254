// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/driver/driver.h"

namespace headway::cuda {

/// Memory of the current context's device. The destructor frees it, which waits for the device. The
/// driver must outlive it. Throws Error when there is not enough memory.
class DeviceMemory {
 public:
  DeviceMemory(const Driver& driver, std::size_t bytes) : driver_(driver) {
    HEADWAY_CU(driver_, cuMemAlloc, &address_, bytes);
  }
  ~DeviceMemory() { driver_.cuMemFree_(address_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  /// A multiple of 256.
  CUdeviceptr address() const { return address_; }

 private:
  const Driver& driver_;
  CUdeviceptr address_ = 0;
};

/// Page-locked host memory, from which copies need no staging.
class PinnedMemory {
 public:
  PinnedMemory(const Driver& driver, std::size_t bytes) : driver_(driver) {
    HEADWAY_CU(driver_, cuMemHostAlloc, &address_, bytes, 0);
  }
  ~PinnedMemory() { driver_.cuMemFreeHost_(address_); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  void* address() const { return address_; }

 private:
  const Driver& driver_;
  void* address_ = nullptr;
};

/// Copies to a device, and returns when the bytes have arrived. From pageable memory, cuMemcpyHtoD
/// alone returns as soon as they are staged, and streams that do not wait for the default stream
/// would read the old content.
inline void upload(const Driver& driver, CUdeviceptr to, const void* from, std::size_t bytes) {
  HEADWAY_CU(driver, cuMemcpyHtoD, to, from, bytes);
  HEADWAY_CU(driver, cuStreamSynchronize, nullptr);
}

}  // namespace headway::cuda
