// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/bucket.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway::trainer {
namespace {

using Way = void (*)(Bucket&);

Way way_of(const ExchangeOptions& options) {
  switch (options.compression) {
    case Compression::kHalf:
      return exchange::add_half;
    case Compression::kInt8:
      return exchange::add_int8;
    case Compression::kOneBit:
      return exchange::add_one_bit;
    case Compression::kDgc:
      return exchange::add_dgc;
    case Compression::kPowerSgd:
      return exchange::add_power_sgd;
    case Compression::kNone:
      break;
  }
  return options.topology == Topology::kParameterServer ? exchange::add_parameter_server
                                                        : exchange::add_plain;
}

}  // namespace

Bucket::Bucket(Device& device, Communicator& communicator, StreamId stream,
               std::vector<GradientTensor> tensors, int number, const ExchangeOptions& options)
    : device_(device),
      communicator_(communicator),
      stream_(stream),
      tensors_(std::move(tensors)),
      number_(number),
      options_(options) {
  for (const GradientTensor& tensor : tensors_) count_ += tensor.count;
  bytes_ = count_ * std::int64_t{sizeof(float)};
  if (options.topology == Topology::kHierarchical)
    count_ = (count_ + places() - 1) / places() * places();
  flat_ = buffer<float>(count_);
  ways_.emplace_back();
  way_of(options)(*this);
  std::erase_if(ways_, [](const Way& way) { return way.stages.empty(); });
}

int Bucket::places() const {
  return std::min(communicator_.links().ranks_per_node, size());
}

void Bucket::upload(float* to, std::span<const float> values) {
  if (!device_.computes()) return;
  device_.copy_blocking(stream_, {to, MemoryKind::kDevice},
                        {const_cast<float*>(values.data()), MemoryKind::kPageable},
                        static_cast<std::int64_t>(values.size_bytes()), conventions::kAbsent);
}

void Bucket::add_kernel(const std::string& part, const kernels::StreamOp& op) {
  Kernel::Tag tag;
  tag.text = fmt::format("{} bucket {}", part, number_);
  tag.name = nvtx::intern(tag.text);
  tag.phase = Phase::kCommunication;
  tag.work = kernels::work_of(op);
  ways_.back().stages.push_back({device_.make_kernel(std::move(tag), op), nullptr});
}

void Bucket::add_collective(CollectiveKind kind, Scope scope, ElementType type, void* data,
                            std::int64_t count) {
  Collective collective{kind, scope, type, data, count, fmt::format("bucket {}", number_)};
  ways_.back().sent_bytes += collective.bytes();
  ways_.back().stages.push_back({nullptr, communicator_.prepare(std::move(collective))});
}

void Bucket::add_pack() {
  add_kernel("pack", kernels::PackGradients{tensors_, flat_});
}

void Bucket::add_unpack(float factor) {
  add_kernel("unpack", kernels::UnpackGradients{tensors_, flat_, factor});
  if (!options_.copies.empty())
    add_kernel("unpack/copies",
               kernels::UnpackGradients{options_.copies, flat_, factor, options_.copy_format});
}

void Bucket::enqueue(std::int64_t batch) {
  while (way_ + 1 < ways_.size() && ways_[way_ + 1].first_exchange <= exchanges_) ++way_;
  ++exchanges_;
  LaunchArguments arguments;
  arguments.batch = batch;
  for (const Stage& stage : ways_[way_].stages) {
    if (stage.kernel) {
      device_.launch(stream_, *stage.kernel, arguments);
    } else {
      communicator_.enqueue(stream_, *stage.collective, batch);
    }
  }
}

}  // namespace headway::trainer
