// SPDX-License-Identifier: MIT
#include "reference_trainer/data/text_loader.h"

#include <algorithm>

#include "common/error.h"

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

}  // namespace

TextLoader::TextLoader(const TextSet& text, Device& device, const TextLoaderOptions& options)
    : text_(text),
      options_(options),
      sampler_(text.sequences(options.length), options.shuffle, options.seed),
      batch_name_(nvtx::intern("batch")),
      read_name_(nvtx::intern("read")),
      collate_name_(nvtx::intern("collate")) {
  const std::int64_t count = text.sequences(options.length);
  const std::int64_t all = options.batch * options.ranks;
  per_epoch_ = options.keep_last ? (count + all - 1) / all : count / all;
  if (per_epoch_ == 0)
    fail_usage(
        "A batch of {} on each of {} ranks needs at least {} sequences of {} tokens; there are {}. "
        "Use a smaller --batch or --sequence, or fewer ranks.",
        options.batch, options.ranks, all, options.length, count);
  const std::int64_t bytes =
      options.batch * options.length * static_cast<std::int64_t>(sizeof(std::int32_t));
  for (int i = 0; i < options.in_use + 1; ++i) {
    auto batch = std::make_unique<Batch>();
    batch->images = device.allocate(bytes, options.memory);
    batch->labels = device.allocate(bytes, options.memory);
    free_.push_back(batch.get());
    batches_.push_back(std::move(batch));
  }
}

Batch* TextLoader::next() {
  if (next_ >= options_.batches) return nullptr;
  HEADWAY_INVARIANT(!free_.empty());
  Batch* batch = free_.back();
  free_.pop_back();
  batch->id = next_++;
  make(*batch);
  return batch;
}

void TextLoader::make(Batch& batch) {
  const std::int64_t length = options_.length;
  const auto order = sampler_.order(batch.id / per_epoch_);
  const std::int64_t first =
      (batch.id % per_epoch_ * options_.ranks + options_.rank) * options_.batch;
  batch.rows = std::min(options_.batch, static_cast<std::int64_t>(order->size()) - first);
  nvtx::Range whole(batch_name_, payload(RangeKind::kBatch, batch.id, batch.images.bytes()));
  std::vector<std::span<const std::uint8_t>> rows;
  {
    nvtx::Range stage(read_name_, payload(RangeKind::kRead, batch.id, batch.rows * (length + 1)));
    for (std::int64_t row = 0; row < batch.rows; ++row)
      rows.push_back(text_.sequence((*order)[static_cast<std::size_t>(first + row)], length));
  }
  nvtx::Range stage(collate_name_, payload(RangeKind::kCollate, batch.id, batch.images.bytes()));
  auto* tokens = batch.images.as<std::int32_t>();
  auto* labels = batch.labels.as<std::int32_t>();
  for (const auto& row : rows) {
    tokens = std::copy(row.begin(), row.end() - 1, tokens);
    labels = std::copy(row.begin() + 1, row.end(), labels);
  }
  const std::int64_t rest = (options_.batch - batch.rows) * length;
  std::fill_n(tokens, rest, 0);
  std::fill_n(labels, rest, -1);
}

}  // namespace headway::trainer
