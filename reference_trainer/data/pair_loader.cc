// SPDX-License-Identifier: MIT
#include "reference_trainer/data/pair_loader.h"

#include <algorithm>
#include <numeric>

#include "common/error.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer {
namespace {

using conventions::RangeKind;

conventions::RangePayload payload(RangeKind kind, std::int64_t batch, std::int64_t bytes) {
  conventions::RangePayload result;
  result.kind = static_cast<std::uint32_t>(kind);
  result.phase = static_cast<std::uint32_t>(Phase::kInput);
  result.batch = batch;
  result.bytes = bytes;
  return result;
}

template <class T>
void shuffle(std::vector<T>& list, Random random) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
}

std::int32_t token(char byte) {
  return static_cast<unsigned char>(byte);
}

}  // namespace

PairLoader::PairLoader(const PairSet& pairs, Device& device, const PairLoaderOptions& options)
    : pairs_(pairs),
      options_(options),
      batch_name_(nvtx::intern("batch")),
      collate_name_(nvtx::intern("collate")) {
  const auto count = static_cast<std::int64_t>(pairs.pairs.size());
  const std::int64_t all = options.batch * options.ranks;
  per_epoch_ = options.keep_last ? (count + all - 1) / all : count / all;
  if (per_epoch_ == 0)
    fail_usage(
        "A batch of {} on each of {} ranks needs at least {} pairs; there are {}. Use a smaller "
        "--batch or fewer ranks.",
        options.batch, options.ranks, all, count);
  const std::int64_t bytes =
      options.batch * options.length * static_cast<std::int64_t>(sizeof(std::int32_t));
  for (int i = 0; i < options.in_use + 1; ++i) {
    auto batch = std::make_unique<Batch>();
    batch->images = device.allocate(2 * bytes, options.memory);
    batch->labels = device.allocate(bytes, options.memory);
    free_.push_back(batch.get());
    batches_.push_back(std::move(batch));
  }
}

/// Sorted: pairs are sorted by length (pairs of one length are shuffled) and cut into groups that
/// all ranks use in one step; then the groups are shuffled.
const std::vector<std::size_t>& PairLoader::order(std::int64_t epoch) {
  if (epoch == order_epoch_) return order_;
  order_epoch_ = epoch;
  order_.resize(pairs_.pairs.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const Random random(options_.seed, 0x0A8E8, static_cast<std::uint64_t>(epoch));
  if (options_.shuffle) shuffle(order_, random);
  if (options_.balance == Balance::kRandom) return order_;
  std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return pairs_.pairs[i].longer(); });
  if (!options_.shuffle) return order_;
  std::vector<std::size_t> starts;
  const auto batch = static_cast<std::size_t>(options_.batch * options_.ranks);
  for (std::size_t i = 0; i + batch <= order_.size(); i += batch) starts.push_back(i);
  shuffle(starts, random);
  std::vector<std::size_t> mixed;
  for (std::size_t start : starts)
    mixed.insert(mixed.end(), order_.begin() + static_cast<std::ptrdiff_t>(start),
                 order_.begin() + static_cast<std::ptrdiff_t>(start + batch));
  order_ = std::move(mixed);
  return order_;
}

Batch* PairLoader::next() {
  if (next_ >= options_.batches) return nullptr;
  HEADWAY_INVARIANT(!free_.empty());
  Batch* batch = free_.back();
  free_.pop_back();
  batch->id = next_++;
  make(*batch);
  return batch;
}

void PairLoader::make(Batch& batch) {
  nvtx::Range whole(batch_name_, payload(RangeKind::kBatch, batch.id, batch.images.bytes()));
  const std::vector<std::size_t>& numbers = order(batch.id / per_epoch_);
  nvtx::Range stage(collate_name_, payload(RangeKind::kCollate, batch.id, batch.images.bytes()));
  const std::int64_t first =
      (batch.id % per_epoch_ * options_.ranks + options_.rank) * options_.batch;
  const std::int64_t n = options_.batch;
  const std::int64_t length = options_.length;
  batch.rows = std::min(n, static_cast<std::int64_t>(numbers.size()) - first);
  auto* const source = batch.images.as<std::int32_t>();
  std::int32_t* const target = source + length * n;
  auto* const labels = batch.labels.as<std::int32_t>();
  std::fill_n(source, 2 * length * n, -1);
  std::fill_n(labels, length * n, -1);
  std::size_t longest = 0;
  std::size_t content = 0;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const PairSet::Pair& pair = pairs_.pairs[numbers[static_cast<std::size_t>(first + row)]];
    HEADWAY_INVARIANT(static_cast<std::int64_t>(pair.longer()) < length);
    longest = std::max(longest, pair.longer() + 1);
    content += pair.longer() + 1;
    for (std::size_t t = 0; t < pair.source.size(); ++t)
      source[static_cast<std::int64_t>(t) * n + row] = token(pair.source[t]);
    for (std::size_t t = 0; t <= pair.target.size(); ++t) {
      target[static_cast<std::int64_t>(t) * n + row] = t > 0 ? token(pair.target[t - 1]) : 0;
      labels[row * length + static_cast<std::int64_t>(t)] =
          t < pair.target.size() ? token(pair.target[t]) : 0;
    }
  }
  batch.filled = static_cast<double>(longest) / static_cast<double>(length);
  batch.content = static_cast<double>(content) /
                  static_cast<double>(batch.rows * static_cast<std::int64_t>(longest));
}

}  // namespace headway::trainer
