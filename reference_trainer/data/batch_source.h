// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "reference_trainer/devices/device.h"

namespace headway::trainer {

/// A batch in host memory, ready to be copied to the device. The source owns it; give it back after
/// use.
struct Batch {
  std::int64_t id = 0;
  std::int64_t rows = 0;  ///< samples; missing rows of a last, shorter batch have label -1
  double filled = 1;      ///< length of the longest sample, as a share of the model's length
  double content = -1;    ///< mean length of the samples, as the same share; -1: all are equal
  Memory images;          ///< float [batch][height][width][channels], or packed (packed_batch.h)
  std::int64_t image_bytes = 0;  ///< bytes of `images` that are used; 0: all
  Memory labels;                 ///< int32 [batch]; with boxes, one for each of `boxes`
  Memory boxes;  ///< float [...][4], for models that find boxes (models/ssd.h); else empty
};

/// Where the steps of a run get their batches from. One consumer thread.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch in order; blocks until it is there. Null after the last one.
  virtual Batch* next() = 0;
  /// Id of the batch that `next` will return.
  virtual std::int64_t next_id() const = 0;
  virtual void give_back(Batch* batch) = 0;
};

}  // namespace headway::trainer
