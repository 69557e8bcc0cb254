// SPDX-License-Identifier: MIT
#include "reference_trainer/data/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {

using conventions::RangeKind;
using conventions::RangePayload;

struct Loader::Stages {
  nvtx::Name batch = nvtx::intern("batch");
  nvtx::Name read = nvtx::intern("read");
  nvtx::Name decode = nvtx::intern("decode");
  nvtx::Name augment = nvtx::intern("augment");
  nvtx::Name collate = nvtx::intern("collate");
};

namespace {

RangePayload payload(RangeKind kind, std::int64_t batch, std::int64_t bytes) {
  RangePayload result;
  result.kind = static_cast<std::uint32_t>(kind);
  result.phase = static_cast<std::uint32_t>(Phase::kInput);
  result.batch = batch;
  result.bytes = bytes;
  return result;
}

}  // namespace

Loader::Loader(SampleSource& source, Device& device, const LoaderOptions& options)
    : source_(source),
      options_(options),
      sampler_(source.count(), options.shuffle, options.seed),
      stages_(std::make_unique<Stages>()) {
  const std::int64_t count = source.count();
  const std::int64_t all = options.batch * options.ranks;
  per_epoch_ = options.keep_last ? (count + all - 1) / all : count / all;
  if (per_epoch_ == 0 && options.ranks > 1)
    fail_usage(
        "{} ranks with a batch of {} each need at least {} samples; there are {}. Use fewer ranks "
        "or "
        "a smaller --batch.",
        options.ranks, options.batch, all, count);
  if (per_epoch_ == 0)
    fail_usage("A batch of {} needs at least as many samples; there are {}. Use a smaller --batch.",
               options.batch, count);
  const std::int64_t floats = options.batch * options.height * options.width * options.channels;
  const auto size = [](std::int64_t elements) { return elements * std::int64_t{sizeof(float)}; };
  const int slots = options.in_use + std::max(options.prefetch, 1);
  for (int i = 0; i < slots; ++i) {
    auto batch = std::make_unique<Batch>();
    batch->images = device.allocate(size(floats), options.memory);
    batch->labels = device.allocate(size(options.batch), options.memory);
    free_.push_back(batch.get());
    batches_.push_back(std::move(batch));
  }
  for (int i = 0; i < options.workers; ++i) threads_.emplace_back([this, i] { work(i); });
}

Loader::~Loader() {
  {
    std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  room_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

/// Batches are claimed in order, so the one that the consumer waits for always has memory.
bool Loader::can_claim() const {
  if (!options_.reuse_workers && next_in_ / per_epoch_ > next_out_ / per_epoch_) return false;
  return next_in_ < options_.batches && next_in_ < next_out_ + std::max(options_.prefetch, 1) &&
         !free_.empty();
}

void Loader::work(int worker) {
  nvtx::name_this_thread(fmt::format("loader {}", worker));
  EncodedBatch encoded;
  std::vector<std::uint8_t> pixels;
  std::vector<float> floats;
  std::int64_t epoch = -1;
  for (;;) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return stopping_ || can_claim(); });
    if (stopping_) return;
    Batch* batch = free_.back();
    free_.pop_back();
    batch->id = next_in_++;
    lock.unlock();
    const std::int64_t its_epoch = options_.reuse_workers ? 0 : batch->id / per_epoch_;
    if (epoch != its_epoch) std::this_thread::sleep_for(options_.worker_start);
    epoch = its_epoch;
    std::exception_ptr error;
    try {
      make(*batch, encoded, pixels, floats);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) {
      failed_[batch->id] = error;
      free_.push_back(batch);
    } else {
      ready_[batch->id] = batch;
    }
    lock.unlock();
    made_.notify_one();
  }
}

Batch* Loader::next() {
  std::unique_lock lock(mutex_);
  const std::int64_t id = next_out_;
  if (id >= options_.batches) return nullptr;
  if (options_.workers == 0) {
    HEADWAY_INVARIANT(!free_.empty());
    Batch* batch = free_.back();
    free_.pop_back();
    batch->id = next_out_++;
    lock.unlock();
    try {
      make(*batch, own_encoded_, own_pixels_, own_floats_);
    } catch (...) {
      free_.push_back(batch);
      next_out_ = id;
      throw;
    }
    return batch;
  }
  made_.wait(lock, [&] { return ready_.contains(id) || failed_.contains(id); });
  if (auto failed = failed_.find(id); failed != failed_.end())
    std::rethrow_exception(failed->second);
  Batch* batch = ready_[id];
  ready_.erase(id);
  ++next_out_;
  lock.unlock();
  room_.notify_all();
  return batch;
}

void Loader::give_back(Batch* batch) {
  {
    std::scoped_lock lock(mutex_);
    free_.push_back(batch);
  }
  room_.notify_all();
}

void Loader::make(Batch& batch, EncodedBatch& encoded, std::vector<std::uint8_t>& pixels,
                  std::vector<float>& floats) {
  const std::int64_t epoch = batch.id / per_epoch_;
  const auto order = sampler_.order(epoch);
  const std::int64_t first =
      (batch.id % per_epoch_ * options_.ranks + options_.rank) * options_.batch;
  batch.rows = std::clamp<std::int64_t>(source_.count() - first, 0, options_.batch);
  const auto rows = static_cast<std::size_t>(batch.rows);
  const std::span<const std::int64_t> samples(order->data() + first, rows);
  const auto size = [&](int height, int width) {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
           static_cast<std::size_t>(options_.channels);
  };
  const std::size_t area = size(options_.height, options_.width);
  const bool pictures = options_.channels == 3;
  const std::size_t decoded = pictures ? size(options_.canvas_height, options_.canvas_width) : area;
  const auto float_bytes = static_cast<std::int64_t>(rows * area * sizeof(float));
  nvtx::Range whole(stages_->batch, payload(RangeKind::kBatch, batch.id, float_bytes));
  {
    nvtx::Range stage(stages_->read, payload(RangeKind::kRead, batch.id, source_.bytes(samples)));
    source_.read(samples, encoded);
  }
  {
    const auto bytes = static_cast<std::int64_t>(rows * decoded);
    nvtx::Range stage(stages_->decode, payload(RangeKind::kDecode, batch.id, bytes));
    pixels.resize(rows * decoded);
    for (std::size_t i = 0; i < rows; ++i)
      source_.decode(encoded.samples[i], std::span(pixels).subspan(i * decoded, decoded));
  }
  {
    nvtx::Range stage(stages_->augment, payload(RangeKind::kAugment, batch.id, float_bytes));
    floats.resize(rows * area);
    for (std::size_t i = 0; i < rows; ++i) {
      Random random(options_.seed, static_cast<std::uint64_t>(epoch),
                    static_cast<std::uint64_t>(samples[i]));
      const auto from = std::span(pixels).subspan(i * decoded, decoded);
      const auto to = std::span(floats).subspan(i * area, area);
      if (pictures) {
        augment_picture(options_.pictures, random, from, options_.canvas_height,
                        options_.canvas_width, options_.height, options_.width, to);
      } else {
        augment(options_.augmentation, random, from, options_.height, options_.width, to);
      }
    }
  }
  nvtx::Range stage(stages_->collate, payload(RangeKind::kCollate, batch.id, float_bytes));
  std::memcpy(batch.images.as<float>(), floats.data(), static_cast<std::size_t>(float_bytes));
  auto* labels = batch.labels.as<std::int32_t>();
  for (std::size_t i = 0; i < rows; ++i) labels[i] = encoded.samples[i].label;
  for (std::int64_t row = batch.rows; row < options_.batch; ++row) labels[row] = -1;
}

}  // namespace headway::trainer
