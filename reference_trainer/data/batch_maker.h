// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "common/nvtx_conventions.h"
#include "reference_trainer/data/batch_source.h"

namespace headway::trainer {

class SampleSource;    // source.h
struct LoaderOptions;  // loader.h

/// Fills batches in stages, each of which handles the whole batch. Each stage is an NVTX range on
/// the calling thread, inside the range of the batch. Labelled images have read, decode, augment
/// (unless the device augments) and collate; images with boxes have the stages of kBoxStages. A
/// maker reuses its memory from batch to batch; use one per thread. The options' seed, the epoch
/// and the samples alone decide the content.
class BatchMaker {
 public:
  virtual ~BatchMaker() = default;
  /// The caller sets `batch.id` and `batch.rows` (the number of samples). Throws Error (bad input)
  /// naming the file.
  virtual void make(Batch& batch, std::int64_t epoch, std::span<const std::int64_t> samples) = 0;
};

/// The maker that the options call for. `source` and `options` must outlive it.
std::unique_ptr<BatchMaker> make_batch_maker(SampleSource& source, const LoaderOptions& options);
std::unique_ptr<BatchMaker> make_box_maker(SampleSource& source, const LoaderOptions& options);
std::unique_ptr<BatchMaker> make_packed_maker(SampleSource& source, const LoaderOptions& options);

/// The payload of the range of a stage.
conventions::RangePayload stage_payload(conventions::RangeKind kind, std::int64_t batch,
                                        std::int64_t bytes);

/// The stages of images with boxes, in order. `encode` is left out where the device matches boxes;
/// `crop`, `flip` and `jitter` where augmentation is not random; `resize`, `jitter` and `normalise`
/// where the device makes the images (`flip` then mirrors only boxes).
enum class BoxStage : std::uint8_t {
  kRead,
  kDecode,
  kCrop,    ///< chooses a part by its overlap with boxes
  kResize,  ///< resamples that part to the size of training
  kFlip,    ///< pixels and boxes
  kJitter,  ///< changes colours
  kNormalise,
  kEncode,  ///< turns boxes into targets of anchors
  kCollate,
};
struct BoxStageName {
  BoxStage stage;
  const char* name;
  conventions::RangeKind kind;
};
inline constexpr BoxStageName kBoxStages[] = {
    {BoxStage::kRead, "read", conventions::RangeKind::kRead},
    {BoxStage::kDecode, "decode", conventions::RangeKind::kDecode},
    {BoxStage::kCrop, "crop", conventions::RangeKind::kAugment},
    {BoxStage::kResize, "resize", conventions::RangeKind::kAugment},
    {BoxStage::kFlip, "flip", conventions::RangeKind::kAugment},
    {BoxStage::kJitter, "jitter", conventions::RangeKind::kAugment},
    {BoxStage::kNormalise, "normalise", conventions::RangeKind::kAugment},
    {BoxStage::kEncode, "encode", conventions::RangeKind::kAugment},
    {BoxStage::kCollate, "collate", conventions::RangeKind::kCollate},
};

/// Whether a run with these options has the stage.
bool has_stage(const LoaderOptions& options, BoxStage stage);

}  // namespace headway::trainer
