// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "kernels/cuda/driver/driver.h"

namespace headway::cuda {

/// The primary context of a GPU, current on the thread that makes this object; the destructor
/// releases it. The driver must outlive it. Throws Error when the driver refuses.
class Context {
 public:
  /// `schedule`: how threads wait for the device, CU_CTX_SCHED_*.
  Context(const Driver& driver, int ordinal, unsigned schedule = CU_CTX_SCHED_AUTO);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  /// Also makes it current on the calling thread.
  void make_current() const;
  /// The same, but only once per thread; later calls cost a comparison.
  void make_current_once() const;
  std::string name() const;
  /// Asks the driver each time.
  int attribute(CUdevice_attribute which) const;
  int multiprocessors() const { return attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT); }
  /// 10 · major + minor: 90 for an H200.
  int compute_capability() const {
    return 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  }
  /// Free memory of the device now, which all processes share.
  std::size_t free_bytes() const;

 private:
  const Driver& driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

}  // namespace headway::cuda
