// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "reference_trainer/data/packed_batch.h"
#include "reference_trainer/devices/device.h"

namespace headway::trainer {

/// Makes a graph's images on the device from packed batches: decodes JPEGs, resizes parts, changes colours, normalises.
/// One batch after the other on one stream, so that there is one place for what comes between.
class DeviceImages {
 public:
  /// `slots`: of the graph's input, whose memory they are.
  DeviceImages(Device& device, const PackedFormat& format, const std::vector<MemoryView>& slots);

  /// Where a batch's block is to be copied on the same stream before.
  MemoryView block() const { return block_.view(); }
  void launch(StreamId stream, int slot, std::int64_t batch);

 private:
  std::uint8_t* scratch(std::int64_t bytes);
  std::unique_ptr<Kernel> kernel(const char* name, const kernels::StreamOp& op, Work work);

  Device& device_;
  Memory block_;
  std::vector<Memory> scratch_;
  std::vector<std::unique_ptr<Kernel>> kernels_;  ///< for all slots alike, in order
  std::vector<std::unique_ptr<Kernel>> last_;     ///< by slot: what writes its memory
};

}  // namespace headway::trainer
