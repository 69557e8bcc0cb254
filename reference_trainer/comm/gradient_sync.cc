// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/gradient_sync.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.h"

namespace headway::trainer {
namespace {

GradientTensor tensor_of(const Graph& graph, const CompiledGraph& compiled, bool computes,
                         ValueId parameter, ValueId gradient) {
  GradientTensor tensor;
  if (computes) tensor.values = compiled.memory(gradient).address;
  tensor.format = compiled.format(gradient);
  tensor.count = compiled.memory_size(gradient) * 8 / kernels::bits_of(tensor.format);
  const Shape& shape = graph.value(parameter).shape;
  tensor.rows = shape.rank() > 1 ? shape[0] : 1;
  return tensor;
}

/// Whether values that are zero on all ranks may become others. oneDNN needs the padding of its
/// layouts to stay zero.
bool fills_zeros(Compression compression) {
  return compression == Compression::kOneBit || compression == Compression::kPowerSgd;
}

}  // namespace

GradientSync::GradientSync(Device& device, StreamId compute, const Graph& graph,
                           CompiledGraph& compiled, const Pairs& gradients,
                           Communicator* communicator, const GradientSyncOptions& options)
    : device_(device), compute_(compute), communicator_(communicator), options_(options) {
  Pairs in_order = gradients;
  std::ranges::stable_sort(
      in_order, {}, [&](const auto& pair) { return graph.value(pair.second).producer.value; });
  for (const auto& [parameter, gradient] : in_order)
    tensors_.push_back(tensor_of(graph, compiled, device.computes(), parameter, gradient));
  if (communicator_) {
    stream_ = options.stream ? *options.stream : device.create_stream("communication");
    if (device.computes() && fills_zeros(options.exchange.compression))
      mask_padding(graph, compiled, in_order);
    plan_buckets(graph, compiled, in_order, options);
  }
  if (options.micro_batches == 1) return;
  std::int64_t count = 0;
  for (const GradientTensor& tensor : tensors_) count += tensor.count;
  sums_ = device.allocate(count * std::int64_t{sizeof(float)}, MemoryKind::kDevice);
  float* sums = sums_.as<float>();
  for (const Part part : {Part::kFirst, Part::kMiddle, Part::kLast})
    add_up_.push_back(make_add_up(part, tensors_, sums));
  if (!follows_ops() || options_.each_micro_batch) return;
  std::span<const GradientTensor> rest = tensors_;
  for (Planned& planned : buckets_) {
    const auto its = rest.first(planned.tensors);
    rest = rest.subspan(planned.tensors);
    planned.add_up = make_add_up(Part::kLast, its, sums);
    // Without real memory `sums` is null and must not be advanced.
    for (const GradientTensor& tensor : its) sums += sums ? tensor.count : 0;
  }
}

std::unique_ptr<Kernel> GradientSync::make_add_up(Part part,
                                                  std::span<const GradientTensor> tensors,
                                                  float* sums) {
  constexpr std::array<const char*, 3> kNames = {"first", "middle", "last"};
  Kernel::Tag tag;
  tag.text = fmt::format("accumulate/{} gradients", kNames[static_cast<std::size_t>(part)]);
  tag.name = nvtx::intern(tag.text);
  tag.phase = Phase::kBackward;
  const kernels::AddUpGradients op{tensors, sums, part == Part::kFirst, part == Part::kLast,
                                   1 / static_cast<float>(options_.micro_batches)};
  tag.work = kernels::work_of(op);
  return device_.make_kernel(std::move(tag), op);
}

/// A value of ones has the layout's zeros in its padding.
void GradientSync::mask_padding(const Graph& graph, CompiledGraph& compiled,
                                const Pairs& in_order) {
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const ValueId id = in_order[i].second;
    const std::int64_t bytes = compiled.memory_size(id);
    if (bytes <= graph.value(id).bytes()) continue;
    const std::vector<float> ones(static_cast<std::size_t>(graph.value(id).shape.elements()), 1.0F);
    compiled.write(id, ones);
    masks_.push_back(device_.allocate(bytes, MemoryKind::kDevice));
    device_.copy_blocking(compute_, masks_.back().view(), compiled.memory(id), bytes,
                          conventions::kAbsent);
    tensors_[i].mask = masks_.back().as<float>();
  }
}

void GradientSync::plan_buckets(const Graph& graph, const CompiledGraph& compiled,
                                const Pairs& in_order, const GradientSyncOptions& options) {
  std::vector<GradientTensor> tensors;
  std::vector<GradientTensor> copies;
  std::int64_t all_bytes = 0;
  for (const GradientTensor& tensor : tensors_)
    all_bytes += tensor.count * std::int64_t{sizeof(float)};
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    tensors.push_back(tensors_[i]);
    if (const auto copy = options.copies.find(in_order[i].second); copy != options.copies.end())
      copies.push_back(
          tensor_of(graph, compiled, device_.computes(), in_order[i].first, copy->second));
    bytes += tensors_[i].count * std::int64_t{sizeof(float)};
    const std::int64_t limit = buckets_.empty() ? options.first_bucket_bytes : options.bucket_bytes;
    if (bytes < limit && i + 1 < in_order.size()) continue;
    ExchangeOptions exchange = options.exchange;
    exchange.average_over = options.sums ? 1.0F : static_cast<float>(communicator_->size());
    // A bucket has its share of the norm by its share of the values, and a rank that of its share
    // of the ranks (Lin et al., 2018), so that nothing waits for the norm of all.
    exchange.clip *=
        static_cast<float>(std::sqrt(static_cast<double>(bytes) / static_cast<double>(all_bytes) /
                                     static_cast<double>(communicator_->size())));
    exchange.copies = std::move(copies);
    const int number = static_cast<int>(buckets_.size());
    const std::size_t count = tensors.size();
    buckets_.push_back({std::make_unique<Bucket>(device_, *communicator_, stream_,
                                                 std::move(tensors), number, exchange),
                        graph.value(in_order[i].second).producer, count});
    tensors.clear();
    copies.clear();
    bytes = 0;
  }
}

bool GradientSync::is_last_of_bucket(NodeId node) const {
  return std::ranges::any_of(buckets_, [&](const Planned& each) { return each.last == node; });
}

void GradientSync::op_launched(NodeId node, std::int64_t batch) {
  if (!follows_ops()) return;
  std::size_t ready = exchanged_;
  while (ready < buckets_.size() && buckets_[ready].last <= node) ++ready;
  exchange_up_to(ready, batch);
}

void GradientSync::add_up(Part part, std::int64_t batch) {
  LaunchArguments arguments;
  arguments.batch = batch;
  device_.launch(compute_, *add_up_[static_cast<std::size_t>(part)], arguments);
}

void GradientSync::backward_launched(int micro_batch, std::int64_t batch) {
  const bool last = micro_batch + 1 == options_.micro_batches;
  auto add = [&] {
    if (!add_up_.empty())
      add_up(micro_batch == 0 ? Part::kFirst : last ? Part::kLast : Part::kMiddle, batch);
  };
  const bool by_bucket = last && follows_ops();
  if (!options_.each_micro_batch && !by_bucket) add();
  if (communicator_ && exchanges(micro_batch)) exchange(batch);
  if (options_.each_micro_batch) add();
}

void GradientSync::exchange(std::int64_t batch) {
  exchange_up_to(buckets_.size(), batch);
  exchanged_ = 0;
  device_.wait(compute_, device_.record(stream_));
}

void GradientSync::exchange_up_to(std::size_t count, std::int64_t batch) {
  if (exchanged_ >= count) return;
  LaunchArguments arguments;
  arguments.batch = batch;
  for (std::size_t i = exchanged_; i < count; ++i)
    if (buckets_[i].add_up) device_.launch(compute_, *buckets_[i].add_up, arguments);
  device_.wait(stream_, device_.record(compute_));
  for (; exchanged_ < count; ++exchanged_) buckets_[exchanged_].bucket->enqueue(batch);
}

std::int64_t GradientSync::sent_bytes() const {
  std::int64_t bytes = 0;
  for (const Planned& each : buckets_) bytes += each.bucket->sent_bytes();
  return bytes;
}

}  // namespace headway::trainer
