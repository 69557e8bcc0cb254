// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "reference_trainer/data/loader.h"
#include "reference_trainer/data/storage.h"
#include "reference_trainer/devices/sim/sim_device.h"
#include "reference_trainer/devices/sim/worker_pool.h"

namespace headway::trainer::sim {

/// Costs of a loader's work on a processor core, in nanoseconds. They are estimates of the order of
/// this project's loader on Fashion-MNIST PNG files; no benchmark checks them.
struct LoaderCosts {
  double decode_per_pixel = 14;
  double picture_augment_per_pixel = 25;
  // Pictures, measured on generated ones of 18 kB (a Xeon with AVX-512, November 2026).
  double jpeg_pixels_per_byte = 5;
  double jpeg_decode_per_pixel = 4;
  double jpeg_entropy_per_pixel = 2.5;  ///< the entropy-coding part, where the device does the rest
  double crop_per_image = 1000;
  double resize_per_pixel = 16;        ///< of the result
  double resize_per_source_pixel = 4;  ///< besides
  double flip_per_pixel = 0.8;         ///< of all images, of which half are flipped
  double jitter_per_pixel = 11;
  double normalise_per_pixel = 9;
  double encode_per_anchor = 25;
  double copy_per_pixel = 0.4;  ///< instead of decoding, where samples are raw
  double augment_per_pixel = 3;
  double collate_per_byte = 0.12;
  std::int64_t open_ns = 6000;  ///< of a file in the page cache
  std::int64_t read_ns = 3000;  ///< likewise
  double read_per_byte = 0.3;
  /// Cores of the host per rank. More threads than this slow each other down while they compute
  /// (worker_pool.h), the training thread too.
  int cores = 16;

  /// Multiplies all costs of the processor by `factor`.
  void scale(double factor);
};

/// How samples are stored, and how workers read them.
struct SimStorage {
  Storage::Speed speed;
  bool one_file_each = false;
  bool decoded = false;           ///< samples are pixels already
  std::int64_t shard_bytes = 0;   ///< 0: a batch's part of a shard is one request
  bool whole_shards = false;      ///< a shard is read before its first sample is used
  bool split = true;              ///< each rank has its own shards
  std::int64_t memory_bytes = 0;  ///< for workers' shards and batches; 0: enough
};

/// The loader's workers on a device's virtual clock. The rules, batches and order are those of
/// Loader (data/loader.h); the stages take as long as the costs and the storage say.
class SimLoader final : public BatchSource {
 public:
  SimLoader(SimDevice& device, SampleSource& source, const LoaderOptions& options,
            const LoaderCosts& costs, const SimStorage& storage);
  ~SimLoader() override;

  Batch* next() override;
  std::int64_t next_id() const override { return next_; }
  void give_back(Batch* batch) override;

 private:
  /// A stage of a worker for every batch; stages run one after the other.
  struct Stage {
    conventions::RangeKind kind;
    nvtx::Name name;
    double processor_ns;  ///< on one core
    std::int64_t bytes;   ///< in the payload of the stage's range
  };
  std::vector<Stage> image_stages() const;
  std::vector<Stage> box_stages() const;
  double source_pixels() const;
  double decode_ns() const;
  /// The reads of a worker for one batch.
  struct Read {
    std::int64_t requests;  ///< files that are opened
    std::int64_t bytes;
  };
  Read read_of(std::int64_t batch) const;
  double read_processor_ns(const Read& read) const;
  /// Throws Error (usage) where shards and batches do not fit into `memory_bytes`.
  void check_memory() const;
  /// The share of the storage's work that remains for this batch despite the page cache, 0..1.
  double cold(std::int64_t batch) const;
  /// Orders all batches that there is room for, up to the epoch of the next one, unless workers go on
  /// to the following.
  void order();
  /// Starts the workers of this epoch.
  void start_epoch(std::int64_t epoch);
  std::vector<Leg> legs_of(std::int64_t batch) const;
  void add_read(std::int64_t batch, std::vector<Leg>& legs) const;
  /// Records the ranges of a batch's stages, and what the batch waited for.
  void record(const MadeBatch& made);
  void record_files(const MadeBatch& made, std::size_t first_leg, std::int64_t begin);
  std::int64_t made_bytes() const;  ///< of batches that are made

  SimDevice& device_;
  const LoaderOptions options_;
  const LoaderCosts costs_;
  const SimStorage storage_;
  std::int64_t per_epoch_ = 1;
  std::int64_t epoch_ = -1;  ///< the epoch that the workers were started for
  std::int64_t bytes_per_batch_ = 0;
  std::vector<Stage> stages_;
  WorkerPool pool_;
  std::int64_t next_ = 0;
  std::int64_t ordered_ = 0;            ///< number of batches ordered from the workers
  std::vector<std::int64_t> returned_;  ///< by batch: when `next` returned it
  std::vector<std::unique_ptr<Batch>> batches_;
  std::vector<Batch*> free_;
};

}  // namespace headway::trainer::sim
