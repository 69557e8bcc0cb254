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

/// Fills batches in stages, each for the whole batch and each an NVTX range on the calling thread, inside the
/// batch's own: read, decode, augment (unless the device does it), collate for labelled images; those of kBoxStages for images
/// with boxes. Keeps its memory from batch to batch; one for each thread. What comes out is decided by the options'
/// seed, the epoch and the samples.
class BatchMaker {
 public:
  virtual ~BatchMaker() = default;
  /// `batch.id` and `batch.rows` (as many as samples) are set. Throws Error (bad input) naming the file.
  virtual void make(Batch& batch, std::int64_t epoch, std::span<const std::int64_t> samples) = 0;
};

/// The one that the options mean. `source` and `options` must outlive it.
std::unique_ptr<BatchMaker> make_batch_maker(SampleSource& source, const LoaderOptions& options);
std::unique_ptr<BatchMaker> make_box_maker(SampleSource& source, const LoaderOptions& options);
std::unique_ptr<BatchMaker> make_packed_maker(SampleSource& source, const LoaderOptions& options);

/// What the range of a stage says.
conventions::RangePayload stage_payload(conventions::RangeKind kind, std::int64_t batch,
                                        std::int64_t bytes);

/// The stages of images with boxes, in order. `encode` is left out where the device matches boxes; `crop`, `flip`
/// and `jitter` without chance; `resize`, `jitter` and `normalise` where the device makes the images, and `flip` is of boxes then.
enum class BoxStage : std::uint8_t {
  kRead,
  kDecode,
  kCrop,    ///< which part, by the overlap with boxes
  kResize,  ///< that part to the size that is trained
  kFlip,    ///< pixels and boxes
  kJitter,  ///< colours
  kNormalise,
  kEncode,  ///< boxes as targets of anchors
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
