// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/cuda/stream.h"

#include <nvtx3/nvToolsExtCuda.h>

#include <algorithm>

namespace headway::trainer {

CudaStream::CudaStream(const cuda::Driver& driver, const std::string& name, bool spin)
    : driver_(driver) {
  HEADWAY_CU(driver_, cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
  nvtxNameCuStreamA(stream_, name.c_str());
  for (CUevent& event : events_)
    HEADWAY_CU(driver_, cuEventCreate, &event,
               CU_EVENT_DISABLE_TIMING | (spin ? 0U : unsigned{CU_EVENT_BLOCKING_SYNC}));
}

/// A failure here follows an earlier one, and a destructor cannot report it.
CudaStream::~CudaStream() {
  for (CUevent event : events_)
    if (event) driver_.cuEventDestroy_(event);
  driver_.cuStreamDestroy_(stream_);
}

/// Must be called with the lock held.
CUevent CudaStream::event_of(std::uint64_t point) {
  const std::uint64_t oldest = recorded_ > kEvents ? recorded_ - kEvents + 1 : 1;
  return events_[std::max(point, oldest) % kEvents];
}

std::uint64_t CudaStream::record() {
  const std::scoped_lock lock(mutex_);
  HEADWAY_CU(driver_, cuEventRecord, events_[(recorded_ + 1) % kEvents], stream_);
  return ++recorded_;
}

bool CudaStream::done(std::uint64_t point) {
  const std::scoped_lock lock(mutex_);
  if (point <= done_) return true;
  const CUresult result = driver_.cuEventQuery_(event_of(point));
  if (result == CUDA_ERROR_NOT_READY) return false;
  driver_.check(result, "cuEventQuery");
  done_ = point;
  return true;
}

/// The lock is not held while the host sleeps, so that other threads can record. If they reuse the
/// event meanwhile, the wait still ends with the recording that was current when it began.
void CudaStream::synchronize(std::uint64_t point) {
  CUevent event = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (point <= done_) return;
    event = event_of(point);
  }
  HEADWAY_CU(driver_, cuEventSynchronize, event);
  const std::scoped_lock lock(mutex_);
  done_ = std::max(done_, point);
}

void CudaStream::hold(CUstream other, std::uint64_t point) {
  const std::scoped_lock lock(mutex_);
  if (point <= done_) return;
  HEADWAY_CU(driver_, cuStreamWaitEvent, other, event_of(point), 0);
}

void CudaStream::synchronize() {
  std::uint64_t recorded = 0;
  {
    const std::scoped_lock lock(mutex_);
    recorded = recorded_;
  }
  HEADWAY_CU(driver_, cuStreamSynchronize, stream_);
  const std::scoped_lock lock(mutex_);
  done_ = std::max(done_, recorded);
}

}  // namespace headway::trainer
