// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace headway::analyzer {

/// Gathers durations and sums them up.
class DurationSummary {
 public:
  void add(std::int64_t ns, std::int64_t bytes = 0) {
    durations_.push_back(ns);
    total_ += ns;
    bytes_ += bytes;
  }
  std::int64_t count() const { return static_cast<std::int64_t>(durations_.size()); }
  std::int64_t total() const { return total_; }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t mean() const { return durations_.empty() ? 0 : total_ / count(); }
  std::int64_t minimum() const;
  std::int64_t maximum() const;
  std::int64_t median() const;

 private:
  std::vector<std::int64_t> durations_;
  std::int64_t total_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace headway::analyzer
