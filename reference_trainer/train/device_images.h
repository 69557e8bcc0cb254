// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "reference_trainer/data/packed_batch.h"
#include "reference_trainer/devices/device.h"

namespace headway::trainer {

/// Makes a graph's images on the device from packed batches: decodes JPEGs, resizes parts, changes
/// colours, normalises. Batches run one after the other on one stream, so one set of intermediate
/// memory is enough.
class DeviceImages {
 public:
  /// `slots`: the memory of the graph's input, by slot.
  DeviceImages(Device& device, const PackedFormat& format, const std::vector<MemoryView>& slots);

  /// Memory that a batch's block must be copied to, earlier on the same stream.
  MemoryView block() const { return block_.view(); }
  void launch(StreamId stream, int slot, std::int64_t batch);

 private:
  std::uint8_t* scratch(std::int64_t bytes);
  std::unique_ptr<Kernel> kernel(const char* name, const kernels::StreamOp& op, Work work);

  Device& device_;
  Memory block_;
  std::vector<Memory> scratch_;
  std::vector<std::unique_ptr<Kernel>> kernels_;  ///< the same for all slots, in order
  std::vector<std::unique_ptr<Kernel>> last_;     ///< by slot: the kernel that writes its memory
};

}  // namespace headway::trainer
