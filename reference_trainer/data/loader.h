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

/// What the loader does about boxes.
struct BoxBatches {
  const std::vector<std::vector<Box>>* of =
      nullptr;  ///< by sample; null: samples have a label only
  /// Encodes them as targets of its anchors; null: the batch has the boxes themselves.
  std::shared_ptr<const BoxEncoder> encoder;
  std::int64_t places = 0;  ///< for boxes of an image, where they are not encoded

  /// Labels of an image, and a quarter of its numbers.
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
  std::int64_t batches = 0;                 ///< how many in all; ids 0, 1, ...
  std::uint64_t seed = 1;
  int rank = 0;  ///< of `ranks` that share the samples: batch b of all ranks together is
  int ranks =
      1;  ///< samples [b, b + 1) · batch · ranks of the epoch's order, this rank's part of it
  bool reuse_workers = true;  ///< false: they start anew every epoch, and nothing is made across it
  std::chrono::microseconds worker_start{0};  ///< emulated: what starting one takes
  Augmentation augmentation;
  PictureAugmentation pictures;
  BoxBatches boxes;
  std::optional<PackedFormat> packed;  ///< the device makes the images of these batches
};

/// A batch with memory for what these options make. The device may be null: then nothing lies there.
std::unique_ptr<Batch> allocate_batch(const LoaderOptions& options, Device* device);

/// Makes batches on worker threads, in stages (batch_maker.h). Batches come out in order,
/// and what is in them depends on the seed alone. A worker's error is thrown by `next` for that
/// batch. One consumer thread. `source` and `device` must outlive the loader.
class Loader final : public BatchSource {
 public:
  Loader(SampleSource& source, Device& device, const LoaderOptions& options);
  /// Stops the workers; batches must have been given back.
  ~Loader() override;
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Of this rank.
  std::int64_t batches_per_epoch() const { return per_epoch_; }
  Batch* next() override;
  std::int64_t next_id() const override { return next_out_; }
  void give_back(Batch* batch) override;

 private:
  /// What a worker thread does until it is stopped.
  void work(int worker);
  void make(Batch& batch, BatchMaker& maker);
  /// There is a free batch, and prefetch allows one more. With the mutex held.
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
  std::map<std::int64_t, std::exception_ptr> failed_;  ///< likewise: what `next` will throw
  std::int64_t next_in_ = 0;                           ///< to be claimed by a worker
  std::int64_t next_out_ = 0;                          ///< to be handed out
  bool stopping_ = false;
  std::unique_ptr<BatchMaker> own_maker_;  // for workers = 0
  std::vector<std::thread> threads_;
};

}  // namespace headway::trainer
