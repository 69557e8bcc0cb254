// SPDX-License-Identifier: MIT
#include "analyzer/evidence/product_waves.h"
#include "analyzer/evidence/op_graph.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace headway::analyzer {
namespace {

using namespace trace;

/// Four steps of a tile of depth 32. With fewer, filling the pipeline takes as long as the sum
/// itself.
constexpr double kLeastTerms = 128;
constexpr int kMostParts = 16;
/// A partial result is written and read as a 4-byte float.
constexpr double kBytesOfPartial = 8;

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

double wave_fill(double blocks, std::int32_t multiprocessors, double power) {
  if (blocks <= 0 || multiprocessors <= 0) return 1;
  const double waves = blocks / multiprocessors;
  const double fill = waves / std::ceil(waves);
  return waves <= 1 ? fill : std::pow(fill, power);
}

std::int64_t tile_elements(std::string_view kernel) {
  for (std::size_t x = kernel.find('x'); x != std::string_view::npos; x = kernel.find('x', x + 1)) {
    std::size_t begin = x;
    while (begin > 0 && is_digit(kernel[begin - 1])) --begin;
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::from_chars(kernel.data() + begin, kernel.data() + x, m);
    std::from_chars(kernel.data() + x + 1, kernel.data() + kernel.size(), n);
    // "32x5" is a depth and stages, "16x8x16" an instruction.
    if (m >= 32 && n >= 32) return m * n;
  }
  return 0;
}

ProductGrids::ProductGrids(const Trace& trace, const Attribution& attribution,
                           std::int32_t multiprocessors)
    : trace_(trace),
      attribution_(attribution),
      multiprocessors_(multiprocessors),
      most_flops_(attribution.ops.size()) {
  for (std::size_t i = 0; i < trace.device_ops.size(); ++i) {
    std::int64_t& most = most_flops_[attribution.op_of[i].value];
    most = std::max<std::int64_t>(most, trace.device_ops.flops[i]);
  }
}

double ProductGrids::depth_of(DeviceOpId op) {
  const GraphOpId node = attribution_.ops[attribution_.op_of[op.value].value].graph_op;
  const DeviceOps& ops = trace_.device_ops;
  if (node.valid()) {
    const GraphOp& graph = trace_.graph_ops[node.value];
    const std::int64_t told = elements_in(graph.shape);
    // The graph op stands for several products (such as a recurrent layer's time steps): its shape
    // has the results of all of them.
    if (2 * most_flops_[attribution_.op_of[op.value].value] < graph.flops) return 0;
    const std::int64_t flops = graph.flops > 0 ? graph.flops : ops.flops[op.value];
    if (told > 0) return static_cast<double>(flops) / 2 / static_cast<double>(told);
  }
  const std::int64_t tiles =
      ops.blocks[op.value] * tile_elements(trace_.strings[ops.name[op.value]]);
  if (tiles == 0) return 0;
  return static_cast<double>(ops.flops[op.value]) / 2 / static_cast<double>(tiles);
}

ProductGrid ProductGrids::of(DeviceOpId op) {
  const DeviceOps& ops = trace_.device_ops;
  ProductGrid grid;
  grid.blocks = ops.blocks[op.value];
  grid.multiprocessors = multiprocessors_;
  grid.bytes = static_cast<double>(ops.bytes[op.value]);
  if (grid.blocks == 0 || ops.flops[op.value] <= 0) return grid;
  const auto [found, is_new] = depths_.try_emplace(
      {ops.name[op.value].value, attribution_.op_of[op.value].value, ops.blocks[op.value]}, 0.0);
  if (is_new) found->second = depth_of(op);
  grid.depth = found->second;
  if (grid.depth > 0) grid.outputs = static_cast<double>(ops.flops[op.value]) / 2 / grid.depth;
  return grid;
}

SplitProduct best_split(const ProductGrid& grid, double power) {
  SplitProduct best;
  if (!grid.known()) return best;
  auto time = [&](int parts) {
    const double partials = parts > 1 ? kBytesOfPartial * grid.outputs * parts : 0;
    const double memory =
        grid.bytes > 0 ? grid.memory_ns * (1 + partials / grid.bytes) : grid.memory_ns;
    const double bound = std::max({grid.arithmetic_ns, memory, 1.0});
    return bound / wave_fill(static_cast<double>(grid.blocks * parts), grid.multiprocessors, power);
  };
  const double now = time(1);
  for (int parts = 2; parts <= kMostParts && grid.depth / parts >= kLeastTerms; parts *= 2) {
    const double left = time(parts) / now;
    if (left < best.left) best = {parts, left};
  }
  return best;
}

}  // namespace headway::analyzer
