// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include "kernels/cuda/driver/driver.h"

namespace headway::trainer {

/// A stream of the driver and its events. Only the newest kEvents points have their own event. An
/// older point uses the oldest of these events, which comes later on the same stream, so that
/// waiting for it also waits for the older point. Thread safe.
class CudaStream {
 public:
  static constexpr std::size_t kEvents = 256;

  /// `spin`: a thread that waits for an event polls for it; otherwise it sleeps.
  CudaStream(const cuda::Driver& driver, const std::string& name, bool spin);
  /// The stream's work must have ended before.
  ~CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  CUstream get() const { return stream_; }
  /// Records a point after all work queued so far; returns its number, 1 for the first.
  std::uint64_t record();
  /// Whether the point has passed. Does not block.
  bool done(std::uint64_t point);
  /// Blocks the calling thread until the point has passed; the overload without a point, until the
  /// queue is empty.
  void synchronize(std::uint64_t point);
  /// Makes later work on `other` wait for the point.
  void hold(CUstream other, std::uint64_t point);
  void synchronize();

 private:
  CUevent event_of(std::uint64_t point);

  const cuda::Driver& driver_;
  CUstream stream_ = nullptr;
  std::array<CUevent, kEvents> events_{};
  std::mutex mutex_;
  std::uint64_t recorded_ = 0;
  std::uint64_t done_ = 0;  ///< newest point that is known to have passed
};

}  // namespace headway::trainer
