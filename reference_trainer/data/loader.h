// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "reference_trainer/data/augment.h"
#include "reference_trainer/data/batch_maker.h"
#include "reference_trainer/data/batch_source.h"
#include "reference_trainer/data/packed_batch.h"
#include "reference_trainer/data/sampler.h"
#include "reference_trainer/data/source.h"
#include "reference_trainer/data/transforms.h"
#include "reference_trainer/devices/device.h"

namespace headway::trainer {

/// How the loader handles boxes.
struct BoxBatches {
  const std::vector<std::vector<Box>>* of =
      nullptr;  ///< by sample; null: samples have a label only
  /// Encodes the boxes as targets of its anchors; null: the batch has the boxes themselves.
  std::shared_ptr<const BoxEncoder> encoder;
  std::int64_t places = 0;  ///< room for boxes per image, where they are not encoded

  /// Labels per image; also a quarter of the floats in `boxes` per image.
  std::int64_t per_image() const {
    return encoder ? static_cast<std::int64_t>(encoder->count()) : places;
  }
};

struct LoaderOptions {
  std::int64_t batch = 32;  ///< samples
  int height = 28;          ///< of the images in a batch, in pixels
  int width = 28;
  int channels = 1;       ///< 3: pictures, augmented as `pictures` says
  int canvas_height = 0;  ///< of decoded pictures
  int canvas_width = 0;
  int workers = 1;   ///< 0: the consumer makes each batch when it asks for it
  int prefetch = 2;  ///< batches made or being made ahead of the one asked for
  int in_use = 4;    ///< batches that the consumer may hold at once
  MemoryKind memory = MemoryKind::kPinned;  ///< of the batches
  bool shuffle = true;                      ///< a new order each epoch, by `seed`
  bool keep_last = false;                   ///< also the shorter batch at the end of an epoch
  std::int64_t batches = 0;                 ///< how many to make in all; ids 0, 1, ...
  std::uint64_t seed = 1;
  int rank = 0;  ///< rank and number of ranks that share the samples; batch b of all
  int ranks =
      1;  ///< ranks is samples [b, b + 1) · batch · ranks of the epoch's order, in equal parts
  bool reuse_workers = true;  ///< false: they restart every epoch, without prefetch across epochs
  std::chrono::microseconds worker_start{0};  ///< emulated: time to start a worker
  Augmentation augmentation;
  PictureAugmentation pictures;
  BoxBatches boxes;
  std::optional<PackedFormat> packed;  ///< set where the device makes the images of these batches
};

/// A batch with memory for these options. `device` null: the batch gets no memory.
std::unique_ptr<Batch> allocate_batch(const LoaderOptions& options, Device* device);

/// Makes batches on worker threads, in stages (batch_maker.h). Batches come out in order, and their
/// content depends on the seed alone. When a worker fails, `next` throws its error for that batch.
/// One consumer thread. `source` and `device` must outlive the loader.
class Loader final : public BatchSource {
 public:
  Loader(SampleSource& source, Device& device, const LoaderOptions& options);
  /// Stops the workers; all batches must have been given back.
  ~Loader() override;
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// For this rank.
  std::int64_t batches_per_epoch() const { return per_epoch_; }
  Batch* next() override;
  std::int64_t next_id() const override { return next_out_; }
  void give_back(Batch* batch) override;

 private:
  /// The loop of a worker thread until it is stopped.
  void work(int worker);
  void make(Batch& batch, BatchMaker& maker);
  /// True when a batch is free and prefetch allows one more. Call with the mutex held.
  bool can_claim() const;
  std::int64_t epoch_now() const;

  SampleSource& source_;
  const LoaderOptions options_;
  Sampler sampler_;
  std::int64_t per_epoch_ = 0;
  std::vector<std::unique_ptr<Batch>> batches_;

  std::mutex mutex_;
  std::condition_variable made_;  ///< a batch became ready, or failed
  std::condition_variable room_;  ///< a worker may start another
  std::vector<Batch*> free_;
  std::map<std::int64_t, Batch*> ready_;               ///< by batch id: made, not handed out
  std::map<std::int64_t, std::exception_ptr> failed_;  ///< by batch id: what `next` will throw
  std::int64_t next_in_ = 0;                           ///< id of the next batch for a worker
  std::int64_t next_out_ = 0;                          ///< id of the next batch that is handed out
  bool stopping_ = false;
  std::unique_ptr<BatchMaker> own_maker_;  // for workers = 0
  std::vector<std::thread> threads_;
};

}  // namespace headway::trainer
