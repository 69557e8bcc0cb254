// SPDX-License-Identifier: MIT
#include "kernels/cuda/driver/context.h"

namespace headway::cuda {

Context::Context(const Driver& driver, int ordinal, unsigned schedule) : driver_(driver) {
  HEADWAY_CU(driver_, cuDeviceGet, &device_, ordinal);
  if (schedule != CU_CTX_SCHED_AUTO)
    HEADWAY_CU(driver_, cuDevicePrimaryCtxSetFlags, device_, schedule);
  HEADWAY_CU(driver_, cuDevicePrimaryCtxRetain, &context_, device_);
  try {
    make_current();
  } catch (...) {
    driver_.cuDevicePrimaryCtxRelease_(device_);
    throw;
  }
}

/// A destructor cannot report an error, so a failure here is ignored.
Context::~Context() {
  driver_.cuDevicePrimaryCtxRelease_(device_);
}

void Context::make_current() const {
  HEADWAY_CU(driver_, cuCtxSetCurrent, context_);
}

void Context::make_current_once() const {
  thread_local CUcontext current = nullptr;
  if (current == context_) return;
  make_current();
  current = context_;
}

std::string Context::name() const {
  char name[256] = "";
  HEADWAY_CU(driver_, cuDeviceGetName, name, sizeof name - 1, device_);
  return name;
}

int Context::attribute(CUdevice_attribute which) const {
  int value = 0;
  HEADWAY_CU(driver_, cuDeviceGetAttribute, &value, which, device_);
  return value;
}

std::size_t Context::free_bytes() const {
  std::size_t free = 0;
  std::size_t all = 0;
  HEADWAY_CU(driver_, cuMemGetInfo, &free, &all);
  return free;
}

}  // namespace headway::cuda
