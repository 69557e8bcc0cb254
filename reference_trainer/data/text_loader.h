// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "reference_trainer/data/batch_source.h"
#include "reference_trainer/data/sampler.h"
#include "reference_trainer/data/text.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {

struct TextLoaderOptions {
  std::int64_t batch = 8;
  std::int64_t length = 128;  ///< tokens of a sequence
  int in_use = 4;             ///< batches that the consumer may hold at once
  MemoryKind memory = MemoryKind::kPinned;
  bool shuffle = true;
  bool keep_last = false;
  std::int64_t batches = 0;
  std::uint64_t seed = 1;
  int rank = 0;  ///< of `ranks` that share the samples, as in loader.h
  int ranks = 1;
};

/// Batches of text: `images` holds int32 tokens [batch][length], `labels` the tokens after them. A
/// batch is a few kilobytes that are already in memory, so the consumer makes it on request: that
/// takes microseconds, less than a hand-over by a worker. One thread. Rows beyond the last sample
/// have label -1.
class TextLoader final : public BatchSource {
 public:
  /// `text` and `device` must outlive the loader.
  TextLoader(const TextSet& text, Device& device, const TextLoaderOptions& options);

  Batch* next() override;
  std::int64_t next_id() const override { return next_; }
  void give_back(Batch* batch) override { free_.push_back(batch); }

 private:
  void make(Batch& batch);

  const TextSet& text_;
  const TextLoaderOptions options_;
  std::int64_t per_epoch_ = 0;
  Sampler sampler_;
  std::int64_t next_ = 0;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::vector<Batch*> free_;
  nvtx::Name batch_name_;
  nvtx::Name read_name_;
  nvtx::Name collate_name_;
};

}  // namespace headway::trainer
