// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/cost_model.h"

#include <algorithm>
#include <cmath>

namespace headway::trainer::sim {
namespace {

/// Bytes that a block of a streaming kernel moves: 256 threads, 16 bytes each, 4 times.
constexpr std::int64_t kBytesPerBlock = std::int64_t{256} * 16 * 4;
/// A block of a matrix kernel makes a tile of 128 x 128 results. Kernels with more flops per byte
/// than this are limited by arithmetic.
constexpr double kFlopsPerByteOfTile = 16;

/// One third is a published figure for an odd vocabulary (the last layer took three times as long);
/// nothing is published between one third and 1.
double share_of_access(int bytes) {
  return bytes >= 16 ? 1 : bytes >= 8 ? 0.75 : bytes >= 4 ? 0.5 : 1.0 / 3;
}

}  // namespace

CostModel::CostModel(SimulatedGpu gpu, const DrawnWorld& world, double memory_bytes_per_s,
                     double link_bytes_per_s, double clock)
    : gpu_(gpu),
      world_(world),
      clock_(clock),
      memory_rate_(memory_bytes_per_s > 0
                       ? memory_bytes_per_s
                       : static_cast<double>(gpu.model->memory_bytes_per_second) *
                             world.costs.memory_share),
      pinned_rate_(link_bytes_per_s > 0 ? link_bytes_per_s
                                        : static_cast<double>(world.costs.pinned_bytes_per_s)),
      pageable_rate_(
          std::min(pinned_rate_, static_cast<double>(world.costs.pageable_bytes_per_s))) {}

double CostModel::peak_of(const Kernel::Tag& tag, MathUnit unit) const {
  // Four 8-bit products with their sum take the place of one 32-bit product (dp4a; CUDA's
  // programming guide).
  constexpr double kDotProduct = 4;
  const GpuModel& gpu = *gpu_.model;
  if (unit != MathUnit::kTensor) return gpu.fp32_flops * (tag.int8_operands ? kDotProduct : 1);
  return tag.int8_operands ? gpu.int8_ops : tag.half_operands ? gpu.half_flops : gpu.tf32_flops;
}

CostModel::KernelCost CostModel::kernel(const Kernel::Tag& tag, double divided, int access_bytes,
                                        SplitSums split) const {
  KernelCost cost;
  const auto flops = static_cast<double>(tag.work.flops);
  const auto bytes = static_cast<double>(tag.work.bytes);
  const bool matrix = flops > kFlopsPerByteOfTile * bytes;
  cost.unit = tag.math_unit == MathUnit::kUnknown ? MathUnit::kGeneral : tag.math_unit;
  // The last block may have less work. Not rounded, so that a kernel with twice the data never
  // takes less time.
  auto blocks_of = [&](double moved) {
    return split.parts * std::max(1.0, moved / static_cast<double>(kBytesPerBlock));
  };
  auto fill_of = [&](double blocks) {
    const double waves = blocks / gpu_.model->multiprocessors;
    return std::pow(waves / std::ceil(waves), waves < 1 ? 1 : world_.kernels.wave_power);
  };
  const double apart = bytes * (1 - divided);  // bytes read by their own number of blocks
  const double blocks = blocks_of(bytes * divided);
  const double fill = fill_of(blocks);
  const double peak = peak_of(tag, cost.unit);
  const double share = (matrix ? world_.costs.matrix_share : 1.0) *
                       (cost.unit == MathUnit::kTensor
                            ? std::pow(share_of_access(access_bytes), world_.kernels.access_power)
                            : 1.0);
  const double compute_s = peak > 0 ? flops / (peak * share * fill * clock_) : 0;
  const double divided_s = (bytes * divided + split.bytes) / (memory_rate_ * fill);
  const double apart_s = apart > 0 ? apart / (memory_rate_ * fill_of(blocks_of(apart))) : 0;
  const double memory_s = divided_s + apart_s;
  const double most = memory_s > compute_s && apart_s > divided_s ? blocks_of(apart) : blocks;
  cost.blocks = static_cast<std::int32_t>(std::min(std::ceil(most), 0x1p30));
  double ns = std::max(compute_s, memory_s) * 1e9;
  if (world_.drawn() && ns > 0) {
    const std::string_view text = tag.text;
    ns /= world_.efficiency(text.substr(0, text.find_first_of(" /")));
    ns *= 1 + 0.5 * world_.kernels.ramp_ns / (world_.kernels.ramp_ns + ns);
  }
  cost.ns = world_.costs.least_kernel_ns + static_cast<std::int64_t>(std::llround(ns));
  cost.occupancy = std::min(1.0, most / gpu_.model->multiprocessors);
  cost.matrix = matrix;
  return cost;
}

std::int64_t CostModel::copy_ns(std::int64_t bytes, MemoryKind host_side) const {
  const double rate = host_side == MemoryKind::kPageable ? pageable_rate_
                      : host_side == MemoryKind::kDevice ? memory_rate_ / 2
                                                         : pinned_rate_;
  return world_.costs.copy_latency_ns +
         static_cast<std::int64_t>(std::llround(static_cast<double>(bytes) / rate * 1e9));
}

}  // namespace headway::trainer::sim
