// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <vector>

#include "reference_trainer/data/batch_source.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/models/resnet.h"
#include "reference_trainer/switches/settings.h"
#include "reference_trainer/train/device_images.h"

namespace headway::trainer {

/// Brings batches from the loader to the device, in one of three ways (the switch h2d). With
/// kPrefetch, a batch is copied on a separate stream while the previous step runs. Where batches
/// are packed, the same stream makes images of them.
class InputFeed {
 public:
  struct Fed {
    std::int64_t batch = 0;
    std::int64_t rows = 0;
    int slot = 0;       ///< of the graph's inputs
    double filled = 1;  ///< LaunchArguments::filled
  };

  /// Input slots that the graph must be compiled with, where `under_way` batches are read at once.
  static int slots(CopyMode mode, int under_way = 1) {
    return under_way + (mode == CopyMode::kPrefetch ? 1 : 0);
  }

  InputFeed(Device& device, StreamId compute, BatchSource& loader, const CompiledGraph& compiled,
            const Model& model, CopyMode mode, int in_use,
            std::unique_ptr<DeviceImages> device_images = nullptr, int under_way = 1);
  /// Waits for unfinished copies.
  ~InputFeed();
  InputFeed(const InputFeed&) = delete;
  InputFeed& operator=(const InputFeed&) = delete;

  /// Returns the batch of the next step; work launched on the compute stream afterwards may read
  /// it. Returns nothing when the loader has no more.
  std::optional<Fed> begin_step();
  /// `done`: event after all work that reads the step's batch. With kPrefetch, fetches and copies
  /// the next batch.
  void end_step(const Event& done) {
    release(current_slot_, done);
    fetch_ahead();
  }
  /// The two halves of `end_step`, where a batch is read again after the next ones have begun:
  /// `release` when the work that reads the batch in `slot` has been launched, `fetch_ahead` when
  /// the next batch is to be copied.
  void release(int slot, const Event& done) { slot_free_[static_cast<std::size_t>(slot)] = done; }
  void fetch_ahead();

  /// The share of the elements of all batches so far that pads shorter samples; -1: all samples are
  /// equal.
  double padding() const { return length_ > 0 ? 1 - content_ / length_ : -1; }
  /// Time that the calling thread has waited for batches so far.
  std::chrono::nanoseconds waited() const { return waited_; }

 private:
  struct InCopy {
    Batch* batch;
    Event copied;
    Event ready;  ///< the device has the batch in the form that the graph needs
  };

  std::optional<Fed> fetch();
  void copy_to_device(const Batch& batch, int slot);
  void give_back_copied();

  Device& device_;
  const StreamId compute_;
  StreamId copy_stream_;
  BatchSource& loader_;
  const CompiledGraph& compiled_;
  const ValueId images_;
  const ValueId labels_;
  const ValueId boxes_;
  const CopyMode mode_;
  const std::size_t in_use_;
  const std::unique_ptr<DeviceImages> device_images_;
  nvtx::Name wait_name_;
  std::deque<InCopy> in_copy_;
  std::vector<Event> slot_free_;  ///< by slot: end of its last reader
  int next_slot_ = 0;
  int current_slot_ = 0;
  std::optional<Fed> ahead_;  ///< kPrefetch: already fetched, with its copy enqueued
  std::chrono::nanoseconds waited_{0};
  double content_ = 0;  ///< sum over the batches so far, in model lengths
  double length_ = 0;
};

}  // namespace headway::trainer
