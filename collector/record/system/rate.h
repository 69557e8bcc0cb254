// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace headway::record {

/// Makes a rate per second from a sum that only grows. The first value, and a value smaller than
/// the one before (the sum was reset), give no rate.
class Rate {
 public:
  /// The rate since the last call, in units of `sum` per second; the time is in ns.
  std::optional<double> next(std::int64_t time_ns, std::int64_t sum) {
    bool usable = known_ && time_ns > time_ns_ && sum >= sum_;
    double rate =
        usable ? static_cast<double>(sum - sum_) * 1e9 / static_cast<double>(time_ns - time_ns_)
               : 0;
    known_ = true;
    time_ns_ = time_ns;
    sum_ = sum;
    return usable ? std::optional(rate) : std::nullopt;
  }

 private:
  bool known_ = false;
  std::int64_t time_ns_ = 0;
  std::int64_t sum_ = 0;
};

}  // namespace headway::record
