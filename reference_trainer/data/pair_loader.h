// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "reference_trainer/data/batch_source.h"
#include "reference_trainer/data/pairs.h"
#include "reference_trainer/nvtx/emitter.h"
#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

struct PairLoaderOptions {
  std::int64_t batch = 16;
  std::int64_t length = 48;
  Balance balance = Balance::kSorted;
  int in_use = 4;
  MemoryKind memory = MemoryKind::kPinned;
  bool shuffle = true;
  bool keep_last = false;
  std::int64_t batches = 0;
  std::uint64_t seed = 1;
  int rank = 0;  ///< of `ranks` that share the samples, as in loader.h
  int ranks = 1;
};

/// Batches of translated sentences for models/gnmt.h. `images` holds int32 tokens
/// [2][length][batch]: the source, and the target after a leading 0. `labels` [batch][length] holds
/// the target and a final 0; -1 pads. The consumer makes each batch itself, as with texts
/// (text_loader.h). One thread.
class PairLoader final : public BatchSource {
 public:
  /// `pairs` and `device` must outlive the loader.
  PairLoader(const PairSet& pairs, Device& device, const PairLoaderOptions& options);

  Batch* next() override;
  std::int64_t next_id() const override { return next_; }
  void give_back(Batch* batch) override { free_.push_back(batch); }

 private:
  /// Indices of the pairs in the order of an epoch.
  const std::vector<std::size_t>& order(std::int64_t epoch);
  void make(Batch& batch);

  const PairSet& pairs_;
  const PairLoaderOptions options_;
  std::int64_t per_epoch_ = 0;
  std::int64_t next_ = 0;
  std::int64_t order_epoch_ = -1;
  std::vector<std::size_t> order_;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::vector<Batch*> free_;
  nvtx::Name batch_name_;
  nvtx::Name collate_name_;
};

}  // namespace headway::trainer
