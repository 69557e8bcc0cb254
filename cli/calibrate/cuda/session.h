// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>

#include "kernels/cuda/driver/context.h"
#include "kernels/cuda/driver/memory.h"

namespace headway::calibrate {

using cuda::DeviceMemory;
using cuda::Driver;
using cuda::PinnedMemory;

/// One GPU ready for measurements: current primary context, a stream, two events, the kernels. For
/// one thread. The constructor throws Error when the driver refuses.
class Session {
 public:
  Session(const Driver& driver, int ordinal);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Driver& driver() const { return driver_; }
  const cuda::Context& context() const { return context_; }
  CUstream stream() const { return stream_; }

  void launch_empty() { launch(empty_, 1, 1, {}); }
  void launch_spin(std::uint64_t ns);
  void launch_triad(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, std::uint64_t groups);
  void wait();
  /// Seconds between two events around the work that `work` queues on the stream; waits for it.
  double time(const std::function<void()>& work);
  /// The same, but a spinning kernel holds the stream for `ns` while `work` queues, so that the
  /// device never waits for the host.
  double time_queued(std::uint64_t ns, const std::function<void()>& work);

 private:
  void close();
  void launch(CUfunction function, unsigned blocks, unsigned threads, std::span<void*> arguments);
  double between_events();

  const Driver& driver_;
  const cuda::Context context_;
  CUmodule module_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent begin_ = nullptr;
  CUevent end_ = nullptr;
  CUfunction empty_ = nullptr;
  CUfunction spin_ = nullptr;
  CUfunction triad_ = nullptr;
};

}  // namespace headway::calibrate
