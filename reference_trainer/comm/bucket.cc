// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/bucket.h"

#include <fmt/format.h>

#include <cstring>

namespace headway::trainer {
namespace {

using Way = void (*)(Bucket&);

Way way_of(const ExchangeOptions& options) {
  switch (options.compression) {
    case Compression::kHalf:
      return exchange::add_half;
    case Compression::kInt8:
      return exchange::add_int8;
    case Compression::kDgc:
      return exchange::add_dgc;
    case Compression::kPowerSgd:
      return exchange::add_power_sgd;
    case Compression::kNone:
      break;
  }
  switch (options.topology) {
    case Topology::kHierarchical:
      return exchange::add_hierarchical;
    case Topology::kParameterServer:
      return exchange::add_parameter_server;
    case Topology::kFlat:
      break;
  }
  return exchange::add_plain;
}

}  // namespace

Bucket::Bucket(Device& device, Communicator& communicator, std::vector<GradientTensor> tensors,
               int number, const ExchangeOptions& options)
    : device_(device),
      communicator_(communicator),
      tensors_(std::move(tensors)),
      number_(number),
      options_(options) {
  for (const GradientTensor& tensor : tensors_) count_ += tensor.count;
  flat_ = device.allocate(bytes(), MemoryKind::kDevice);
  way_of(options)(*this);
}

std::vector<float>& Bucket::buffer(std::int64_t count) {
  buffers_.push_back(std::make_unique<std::vector<float>>(
      computes() ? static_cast<std::size_t>(count) : std::size_t{0}));
  return *buffers_.back();
}

std::vector<std::byte>& Bucket::byte_buffer(std::int64_t count) {
  byte_buffers_.push_back(std::make_unique<std::vector<std::byte>>(
      computes() ? static_cast<std::size_t>(count) : std::size_t{0}));
  return *byte_buffers_.back();
}

void Bucket::add_kernel(const std::string& part, Work work, std::function<void()> body) {
  Kernel::Tag tag;
  tag.text = fmt::format("{} bucket {}", part, number_);
  tag.name = nvtx::intern(tag.text);
  tag.phase = Phase::kCommunication;
  tag.work = work;
  stages_.push_back(
      {device_.make_kernel(std::move(tag), [run = std::move(body)](auto&) { run(); }), nullptr});
}

void Bucket::add_collective(CollectiveKind kind, Scope scope, std::int64_t bytes,
                            const std::string& dtype, std::function<void(CommBackend&)> body) {
  sent_bytes_ += bytes;
  stages_.push_back(
      {nullptr, communicator_.prepare({kind, scope, bytes, dtype, fmt::format("bucket {}", number_),
                                       std::move(body)})});
}

void Bucket::add_pack() {
  add_kernel("pack", {0, 2 * bytes()}, [this] {
    float* to = flat();
    for (const GradientTensor& tensor : tensors_) {
      std::memcpy(to, tensor.values, static_cast<std::size_t>(tensor.count) * sizeof(float));
      to += tensor.count;
    }
  });
}

void Bucket::add_unpack(float factor) {
  add_kernel("unpack", {count_, 2 * bytes()}, [this, factor] {
    const float* from = flat();
    for (const GradientTensor& tensor : tensors_) {
      for (std::int64_t i = 0; i < tensor.count; ++i) tensor.values[i] = from[i] * factor;
      from += tensor.count;
    }
  });
}

void Bucket::enqueue(StreamId stream, std::int64_t batch) const {
  LaunchArguments arguments;
  arguments.batch = batch;
  for (const Stage& stage : stages_) {
    if (stage.kernel) {
      device_.launch(stream, *stage.kernel, arguments);
    } else {
      communicator_.enqueue(stream, *stage.collective, batch);
    }
  }
}

}  // namespace headway::trainer
