// SPDX-License-Identifier: MIT
#include "reference_trainer/data/loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {

std::unique_ptr<Batch> allocate_batch(const LoaderOptions& o, Device* device) {
  auto batch = std::make_unique<Batch>();
  auto allocate_bytes = [&](std::int64_t bytes) {
    return device ? device->allocate(bytes, o.memory) : Memory(nullptr, {nullptr, o.memory}, bytes);
  };
  auto allocate = [&](std::int64_t elements) {
    return allocate_bytes(elements * std::int64_t{sizeof(float)});
  };
  batch->images = o.packed ? allocate_bytes(o.packed->bytes())
                           : allocate(o.batch * o.height * o.width * o.channels);
  batch->labels = allocate(o.boxes.of ? o.batch * o.boxes.per_image() : o.batch);
  if (o.boxes.of) batch->boxes = allocate(4 * o.batch * o.boxes.per_image());
  return batch;
}

Loader::Loader(SampleSource& source, Device& device, const LoaderOptions& options)
    : source_(source),
      options_(options),
      sampler_(source.count(), options.shuffle, options.seed),
      own_maker_(make_batch_maker(source, options_)) {
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
  const int slots = options.in_use + std::max(options.prefetch, 1);
  for (int i = 0; i < slots; ++i) {
    batches_.push_back(allocate_batch(options, &device));
    free_.push_back(batches_.back().get());
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

/// Batches are claimed in order, so the batch that the consumer waits for always has memory.
bool Loader::can_claim() const {
  if (!options_.reuse_workers && next_in_ / per_epoch_ > next_out_ / per_epoch_) return false;
  return next_in_ < options_.batches && next_in_ < next_out_ + std::max(options_.prefetch, 1) &&
         !free_.empty();
}

/// The epoch of the workers. Workers that are reused count only one.
std::int64_t Loader::epoch_now() const {
  return options_.reuse_workers ? 0 : next_out_ / per_epoch_;
}

void Loader::work(int worker) {
  nvtx::name_this_thread(fmt::format("loader {}", worker));
  const std::unique_ptr<BatchMaker> maker = make_batch_maker(source_, options_);
  std::int64_t epoch = -1;
  // All workers start with the epoch at the same time, even when no batch can be made yet.
  const auto starts = [&] { return next_out_ < options_.batches && epoch_now() != epoch; };
  for (;;) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return stopping_ || starts() || can_claim(); });
    if (stopping_) return;
    if (starts()) {
      epoch = epoch_now();
      lock.unlock();
      std::this_thread::sleep_for(options_.worker_start);
      continue;
    }
    Batch* batch = free_.back();
    free_.pop_back();
    batch->id = next_in_++;
    lock.unlock();
    std::exception_ptr error;
    try {
      make(*batch, *maker);
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
      make(*batch, *own_maker_);
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

void Loader::make(Batch& batch, BatchMaker& maker) {
  const std::int64_t epoch = batch.id / per_epoch_;
  const auto order = sampler_.order(epoch);
  const std::int64_t first =
      (batch.id % per_epoch_ * options_.ranks + options_.rank) * options_.batch;
  batch.rows = std::clamp<std::int64_t>(source_.count() - first, 0, options_.batch);
  maker.make(batch, epoch, {order->data() + first, static_cast<std::size_t>(batch.rows)});
}

}  // namespace headway::trainer
