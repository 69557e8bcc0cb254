// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include "kernels/cuda/driver/driver.h"

namespace headway::trainer {

/// A stream of the driver and its events. The newest kEvents points are told apart; an older one is taken to be the
/// oldest of those, which is later on the same stream, so that waiting for it waits for the older one too. Thread safe.
class CudaStream {
 public:
  static constexpr std::size_t kEvents = 256;

  /// `spin`: who waits for an event polls for it; otherwise it sleeps.
  CudaStream(const cuda::Driver& driver, const std::string& name, bool spin);
  /// The stream's work must have ended.
  ~CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  CUstream get() const { return stream_; }
  /// A point after all work queued so far; the first is 1.
  std::uint64_t record();
  /// Does not block; remembers what has passed.
  bool done(std::uint64_t point);
  /// Blocks the calling thread; by the second, until nothing is queued.
  void synchronize(std::uint64_t point);
  /// `other` goes on only after the point.
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
