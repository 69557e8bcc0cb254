// SPDX-License-Identifier: MIT
#include "kernels/layer_norm/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::int64_t kWarpColumns = 1024;
constexpr std::int64_t kBlockColumns = 8192;

/// How rows are distributed: threads per row, and the kernel that has room for their columns.
struct Rows {
  LayerNormVariant variant;
  std::string kernel;
  unsigned blocks;
};

Rows deal(const Limits& limits, const char* base, NumberFormat format, LayerNormShape shape,
          LayerNormVariant variant, int blocks_each) {
  const std::int64_t n = shape.columns;
  if (variant == LayerNormVariant::kBest)
    variant = n <= kWarpColumns    ? LayerNormVariant::kWarp
              : n <= kBlockColumns ? LayerNormVariant::kBlock
                                   : LayerNormVariant::kNaive;
  if (variant == LayerNormVariant::kNaive)
    return {variant, kernel_name((std::string(base) + "_naive").c_str(), format),
            blocks_for(shape.rows, 1, limits, 8)};
  const bool warp = variant == LayerNormVariant::kWarp;
  const std::int64_t most = warp ? kWarpColumns : kBlockColumns;
  require(n <= most, base, "rows are too long for this variant");
  const char* size = n <= most / 4 ? (warp ? "_warp1" : "_block1") : (warp ? "_warp4" : "_block4");
  return {variant, kernel_name((std::string(base) + size).c_str(), format),
          blocks_for(shape.rows, warp ? kThreads / 32 : 1, limits, blocks_each)};
}

constexpr int kBackwardBlocks = 2;  // per multiprocessor: each adds one part to the final sum

}  // namespace

std::int64_t layer_norm_scratch_floats(const Limits& limits, LayerNormShape shape) {
  return std::max<std::int64_t>(
      plan_columns(limits, shape.rows, shape.columns).scratch_floats(2),
      std::int64_t{2} * limits.multiprocessors * kBackwardBlocks * shape.columns);
}

Launch layer_norm_forward(const Limits& limits, NumberFormat format, LayerNormShape shape,
                          float epsilon, const LayerNormArrays& a, LayerNormVariant variant) {
  constexpr const char* kName = "layer_norm_forward";
  require_flat(kName, format, shape.elements(), a.x, a.y);
  require_flat(kName, NumberFormat::kFloat32, 1, a.gamma, a.beta, a.mean, a.rstd);
  require((a.added == nullptr) == (a.sum == nullptr), kName, "an added array needs a sum");
  const Rows rows = deal(limits, kName, format, shape, variant, 16);
  const bool packed =
      shape.columns % kColumnPack == 0 && all_packed(a.x, a.added, a.sum, a.gamma, a.beta, a.y);
  return make_launch("layer_norm_forward", rows.kernel, {rows.blocks}, kThreads,
                     LayerNormParameters{shape, a, epsilon, packed, {}});
}

Launches layer_norm_backward(const Limits& limits, NumberFormat format, LayerNormShape shape,
                             const LayerNormArrays& a, LayerNormVariant variant) {
  constexpr const char* kName = "layer_norm_backward";
  require_flat(kName, format, shape.elements(), a.x, a.dy, a.dx);
  require_flat(kName, NumberFormat::kFloat32, 1, a.gamma, a.mean, a.rstd, a.dgamma, a.dbeta,
               a.scratch);
  const Rows rows = deal(limits, kName, format, shape, variant, kBackwardBlocks);
  const bool packed =
      shape.columns % kColumnPack == 0 && all_packed(a.x, a.dy, a.dsum, a.dx, a.gamma);
  const ColumnPlan plan = plan_columns(limits, shape.rows, shape.columns, packed);
  const LayerNormParameters by{shape, a, 0, packed, plan.tiles};
  Launches launches = {
      make_launch("layer_norm_backward", rows.kernel, {rows.blocks}, kThreads, by)};
  unsigned parts = rows.blocks;
  if (rows.variant == LayerNormVariant::kNaive) {
    launches.push_back(make_launch("layer_norm_backward",
                                   kernel_name("layer_norm_parameters", format), plan.grid,
                                   kColumnThreads, by));
    parts = plan.grid.y;
  }
  launches.push_back(finish_columns(limits, shape.columns, parts, a.scratch, a.dgamma, a.dbeta));
  return launches;
}

}  // namespace headway::kernels::cuda
