// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace headway::trainer {

/// The order in which samples are visited. It depends on seed and epoch alone, not on workers or on
/// where samples are stored. Shuffles blocks of kBlock neighbours, then samples within windows of
/// kWindow blocks; readers of packed shards need this because they read whole blocks. Thread safe.
class Sampler {
 public:
  static constexpr std::int64_t kBlock = 1000;
  static constexpr std::int64_t kWindow = 8;

  Sampler(std::int64_t count, bool shuffle, std::uint64_t seed)
      : count_(count), shuffle_(shuffle), seed_(seed) {}

  /// All samples, each once, in the order of `epoch`.
  std::shared_ptr<const std::vector<std::int64_t>> order(std::int64_t epoch);

 private:
  std::vector<std::int64_t> make_order(std::int64_t epoch) const;

  const std::int64_t count_;
  const bool shuffle_;
  const std::uint64_t seed_;
  std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<const std::vector<std::int64_t>>> recent_;
};

}  // namespace headway::trainer
