// SPDX-License-Identifier: MIT
#include "reference_trainer/train/input_feed.h"

#include "common/error.h"

namespace headway::trainer {

InputFeed::InputFeed(Device& device, StreamId compute, BatchSource& loader,
                     const CompiledGraph& compiled, const Model& model, CopyMode mode, int in_use,
                     std::unique_ptr<DeviceImages> device_images, int under_way)
    : device_(device),
      compute_(compute),
      copy_stream_(mode == CopyMode::kPrefetch ? device.create_stream("copy") : compute),
      loader_(loader),
      compiled_(compiled),
      images_(model.images),
      labels_(model.labels),
      boxes_(model.boxes),
      mode_(mode),
      in_use_(static_cast<std::size_t>(in_use)),
      device_images_(std::move(device_images)),
      wait_name_(nvtx::intern("input wait")),
      slot_free_(static_cast<std::size_t>(slots(mode, under_way))) {}

InputFeed::~InputFeed() {
  try {
    while (!in_copy_.empty()) {
      device_.synchronize(in_copy_.front().copied);
      loader_.give_back(in_copy_.front().batch);
      in_copy_.pop_front();
    }
    if (device_images_) device_.synchronize(copy_stream_);  // kernels must outlive their launches
  } catch (const Error&) {
    // The device has failed, and the run reports it; the device's streams still finish before
    // memory is freed.
  }
}

std::optional<InputFeed::Fed> InputFeed::begin_step() {
  std::optional<Fed> fed = ahead_ ? std::exchange(ahead_, std::nullopt) : fetch();
  if (!fed) return fed;
  current_slot_ = fed->slot;
  if (mode_ == CopyMode::kPrefetch) {
    for (const InCopy& each : in_copy_)
      if (each.batch->id == fed->batch) device_.wait(compute_, each.ready);
  }
  return fed;
}

void InputFeed::fetch_ahead() {
  if (mode_ == CopyMode::kPrefetch) ahead_ = fetch();
}

std::optional<InputFeed::Fed> InputFeed::fetch() {
  give_back_copied();
  conventions::RangePayload payload;
  payload.kind = static_cast<std::uint32_t>(conventions::RangeKind::kInputWait);
  payload.phase = static_cast<std::uint32_t>(Phase::kInput);
  payload.batch = loader_.next_id();
  const auto start = device_.clock().now();
  Batch* batch = nullptr;
  {
    nvtx::Range range(wait_name_, payload);
    batch = loader_.next();
  }
  waited_ += device_.clock().now() - start;
  if (!batch) return std::nullopt;
  if (batch->content >= 0) {
    content_ += batch->content * batch->filled;
    length_ += batch->filled;
  }
  const int slot = next_slot_;
  next_slot_ = (next_slot_ + 1) % static_cast<int>(slot_free_.size());
  copy_to_device(*batch, slot);
  const Event copied = device_.record(copy_stream_);
  if (device_images_) device_images_->launch(copy_stream_, slot, batch->id);
  in_copy_.push_back({batch, copied, device_images_ ? device_.record(copy_stream_) : copied});
  return Fed{batch->id, batch->rows, slot, batch->filled};
}

void InputFeed::copy_to_device(const Batch& batch, int slot) {
  if (mode_ == CopyMode::kPrefetch)
    device_.wait(copy_stream_, slot_free_[static_cast<std::size_t>(slot)]);
  auto copy = [&](const MemoryView& to, const Memory& from, std::int64_t bytes) {
    if (mode_ == CopyMode::kBlocking) {
      device_.copy_blocking(copy_stream_, to, from.view(), bytes, batch.id);
    } else {
      device_.copy(copy_stream_, to, from.view(), bytes, batch.id);
    }
  };
  auto copy_all = [&](ValueId to, const Memory& from) {
    copy(compiled_.memory(to, slot), from, from.bytes());
  };
  copy(device_images_ ? device_images_->block() : compiled_.memory(images_, slot), batch.images,
       batch.image_bytes > 0 ? batch.image_bytes : batch.images.bytes());
  copy_all(labels_, batch.labels);
  if (boxes_.valid()) copy_all(boxes_, batch.boxes);
}

/// Gives back host batches whose copies are done; when too many copies are unfinished, waits for
/// the oldest.
void InputFeed::give_back_copied() {
  while (!in_copy_.empty()) {
    const InCopy& oldest = in_copy_.front();
    if (!device_.done(oldest.copied)) {
      if (in_copy_.size() < in_use_) return;
      device_.synchronize(oldest.copied);
    }
    loader_.give_back(oldest.batch);
    in_copy_.pop_front();
  }
}

}  // namespace headway::trainer
