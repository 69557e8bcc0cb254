// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace headway::trainer {

/// The time of the thread that drives a device. A simulated device has a virtual clock, so that the
/// same host program runs on it.
class HostClock {
 public:
  virtual ~HostClock() = default;
  /// Time since some fixed point; never goes back.
  virtual std::chrono::nanoseconds now() const = 0;
  /// Host work of that duration: keeps the thread's core busy.
  virtual void spend(std::chrono::nanoseconds duration) = 0;
  /// Sleeps for that duration: leaves the core to others.
  virtual void rest(std::chrono::nanoseconds duration) = 0;
};

/// The processor's own clock.
HostClock& steady_host_clock();

/// Tells the processor that this thread only waits. Loops that emulate work or poll must call it:
/// where two threads share a core, a spinning thread slows the other one's kernels down, which
/// would not happen on a GPU.
inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace headway::trainer
