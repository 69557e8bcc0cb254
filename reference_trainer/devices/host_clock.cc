// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/host_clock.h"

#include <thread>

namespace headway::trainer {
namespace {

using Clock = std::chrono::steady_clock;

class SteadyHostClock final : public HostClock {
 public:
  std::chrono::nanoseconds now() const override { return Clock::now().time_since_epoch(); }
  void spend(std::chrono::nanoseconds duration) override {
    if (duration.count() <= 0) return;
    const Clock::time_point end = Clock::now() + duration;
    while (Clock::now() < end) pause_processor();
  }
  void rest(std::chrono::nanoseconds duration) override {
    if (duration.count() > 0) std::this_thread::sleep_for(duration);
  }
};

}  // namespace

HostClock& steady_host_clock() {
  static SteadyHostClock clock;
  return clock;
}

}  // namespace headway::trainer
