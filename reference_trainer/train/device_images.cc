// SPDX-License-Identifier: MIT
#include "reference_trainer/train/device_images.h"

#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {

using namespace kernels;

DeviceImages::DeviceImages(Device& device, const PackedFormat& format,
                           const std::vector<MemoryView>& slots)
    : device_(device), block_(device.allocate(format.bytes(), MemoryKind::kDevice)) {
  const PackedFormat::Places places = format.places();
  auto in_block = [&]<class T>(std::int64_t place, const T*& to) {
    to = reinterpret_cast<const T*>(block_.as<std::byte>() + place);
  };
  if (format.kind == PackedFormat::Kind::kGrey) {
    ShiftImages op = shift_images(format.grey, format.height, format.width);
    op.images = format.images;
    in_block(places.payload, op.from);
    in_block(places.shifts, op.shifts);
    for (const MemoryView& slot : slots) {
      op.to = static_cast<float*>(slot.address);
      last_.push_back(kernel("augment", op, work_of(op)));
    }
    return;
  }
  const std::uint8_t* pictures = nullptr;
  in_block(places.payload, pictures);
  std::int64_t picture_bytes = format.usual_payload;
  if (format.kind == PackedFormat::Kind::kJpegs) {
    DecodeJpegBlocks op;
    op.images = format.images;
    op.blocks = format.usual_payload / 128;
    const Work work = work_of(op);
    op.blocks = format.payload_bytes / 128;
    in_block(places.payload, op.coefficients);
    in_block(places.jpegs, op.pictures);
    op.samples = scratch(format.payload_bytes / 2);
    pictures = op.to = scratch(format.decoded_bytes);
    picture_bytes = format.usual_decoded;
    kernels_.push_back(kernel("decode_jpeg", op, work));
  }
  ResizePictures resize;
  resize.images = format.images;
  if (format.has_canvas()) {
    resize.height = format.canvas_height;
    resize.width = format.canvas_width;
    resize.source_bytes = picture_bytes;
    resize.from = pictures;
    in_block(places.whole, resize.parts);
    pictures = resize.to = scratch(format.images * format.canvas_bytes());
    picture_bytes = format.images * format.canvas_bytes();
    kernels_.push_back(kernel("resize_to_canvas", resize, work_of(resize)));
  }
  resize.height = format.height;
  resize.width = format.width;
  resize.source_bytes = picture_bytes;
  resize.from = pictures;
  in_block(places.parts, resize.parts);
  resize.to = scratch(std::int64_t{3} * format.images * format.height * format.width);
  kernels_.push_back(kernel("resize", resize, work_of(resize)));
  ColourPictures colour = colour_pictures(format.colour, format.height, format.width);
  colour.images = format.images;
  colour.from = resize.to;
  if (format.colour.random) in_block(places.colours, colour.changes);
  for (const MemoryView& slot : slots) {
    colour.to = static_cast<float*>(slot.address);
    last_.push_back(kernel("augment", colour, work_of(colour)));
  }
}

std::uint8_t* DeviceImages::scratch(std::int64_t bytes) {
  scratch_.push_back(device_.allocate(bytes, MemoryKind::kDevice));
  return scratch_.back().as<std::uint8_t>();
}

std::unique_ptr<Kernel> DeviceImages::kernel(const char* name, const StreamOp& op, Work work) {
  Kernel::Tag tag;
  tag.text = name;
  tag.name = nvtx::intern(name);
  tag.phase = Phase::kInput;
  tag.work = work;
  return device_.make_kernel(std::move(tag), op);
}

void DeviceImages::launch(StreamId stream, int slot, std::int64_t batch) {
  LaunchArguments arguments;
  arguments.slot = slot;
  arguments.batch = batch;
  for (const auto& kernel : kernels_) device_.launch(stream, *kernel, arguments);
  device_.launch(stream, *last_[static_cast<std::size_t>(slot)], arguments);
}

}  // namespace headway::trainer
