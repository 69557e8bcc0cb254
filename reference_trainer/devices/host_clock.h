// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace headway::trainer {

/// The time of the thread that drives a device. A simulated device has a virtual one, so that the
/// same host program runs on it.
class HostClock {
 public:
  virtual ~HostClock() = default;
  /// Since some fixed point; never goes back.
  virtual std::chrono::nanoseconds now() const = 0;
  /// Host work of that length: keeps the thread's core busy.
  virtual void spend(std::chrono::nanoseconds duration) = 0;
  /// Sleeps that long: leaves the core to others.
  virtual void rest(std::chrono::nanoseconds duration) = 0;
};

/// The processor's own clock.
HostClock& steady_host_clock();

/// Tells the processor that this thread only waits. What emulates work, or polls, says it all the time: where two
/// threads share a core, one that spins slows the other one's kernels down, which a GPU's would not be.
inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace headway::trainer
