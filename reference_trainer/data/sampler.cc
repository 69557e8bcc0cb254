// SPDX-License-Identifier: MIT
#include "reference_trainer/data/sampler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "reference_trainer/data/random.h"

namespace headway::trainer {
namespace {

template <class Iterator>
void shuffle(Iterator begin, Iterator end, Random& random) {
  for (auto left = end - begin; left > 1; --left)
    std::swap(begin[left - 1],
              begin[static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint64_t>(left)))]);
}

}  // namespace

std::shared_ptr<const std::vector<std::int64_t>> Sampler::order(std::int64_t epoch) {
  std::scoped_lock lock(mutex_);
  auto& slot = recent_[epoch];
  if (!slot) slot = std::make_shared<const std::vector<std::int64_t>>(make_order(epoch));
  auto result = slot;
  recent_.erase(recent_.begin(), recent_.lower_bound(epoch - 1));
  return result;
}

std::vector<std::int64_t> Sampler::make_order(std::int64_t epoch) const {
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(count_));
  std::vector<std::int64_t> blocks(static_cast<std::size_t>((count_ + kBlock - 1) / kBlock));
  std::iota(blocks.begin(), blocks.end(), 0);
  Random random(seed_, 0x5A4D, static_cast<std::uint64_t>(epoch));
  if (shuffle_) shuffle(blocks.begin(), blocks.end(), random);
  std::size_t window_begin = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::int64_t first = blocks[i] * kBlock;
    for (std::int64_t sample = first; sample < std::min(first + kBlock, count_); ++sample)
      result.push_back(sample);
    const bool window_full = (i + 1) % kWindow == 0 || i + 1 == blocks.size();
    if (!window_full) continue;
    if (shuffle_)
      shuffle(result.begin() + static_cast<std::ptrdiff_t>(window_begin), result.end(), random);
    window_begin = result.size();
  }
  return result;
}

}  // namespace headway::trainer
