// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>

#include <cstdint>

namespace headway::cli::live {

/// Keeps work within a share of one processor, after an initial `credit`.
class Budget {
 public:
  Budget(double share, std::int64_t credit_ns) : share_(share), credit_ns_(credit_ns) {}

  /// Whether work of about this much processor time may begin.
  bool allows(std::int64_t wall_ns, std::int64_t expected_ns) const {
    return spent_ns_ + expected_ns <=
           credit_ns_ + static_cast<std::int64_t>(share_ * static_cast<double>(wall_ns));
  }
  void spend(std::int64_t cpu_ns) { spent_ns_ += cpu_ns; }

 private:
  double share_;
  std::int64_t credit_ns_;
  std::int64_t spent_ns_ = 0;
};

inline std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace headway::cli::live
