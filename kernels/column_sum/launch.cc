// SPDX-License-Identifier: MIT
#include "kernels/column_sum/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {

ColumnPlan plan_columns(const Limits& limits, std::int64_t rows, std::int64_t columns,
                        bool packed) {
  require(rows > 0 && columns > 0, "columns", "rows and columns must be positive");
  ColumnPlan plan;
  const std::int64_t packs = (columns + kColumnPack - 1) / kColumnPack;
  int across = 1;
  while (across < 32 && across < packs) across *= 2;
  plan.tiles = {rows, columns, across, packed && columns % kColumnPack == 0};
  plan.grid.x = static_cast<unsigned>((packs + across - 1) / across);
  // A thread takes at least four rows; four blocks keep a multiprocessor busy.
  const std::int64_t down = kColumnThreads / static_cast<unsigned>(across);
  const std::int64_t most = std::min<std::int64_t>((rows + 4 * down - 1) / (4 * down), 512);
  const std::int64_t wanted = std::int64_t{limits.multiprocessors} * 4 / plan.grid.x;
  plan.grid.y = static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most));
  return plan;
}

Launch finish_columns(const Limits& limits, std::int64_t columns, unsigned parts,
                      const float* scratch, float* first, float* second) {
  require_flat("column_finish", NumberFormat::kFloat32, columns, scratch, first);
  const int sums = second ? 2 : 1;
  return make_launch(
      "column_sum", "column_finish", {blocks_for(columns * sums, kColumnThreads, limits)},
      kColumnThreads,
      ColumnFinishParameters{scratch, columns, static_cast<int>(parts), sums, {first, second}});
}

Launches column_sum(const Limits& limits, NumberFormat format, std::int64_t rows,
                    std::int64_t columns, const void* x, float* sums, float* scratch) {
  require_flat("column_sum", format, 1, x);
  const ColumnPlan plan = plan_columns(limits, rows, columns, all_packed(x));
  return {make_launch("column_sum", kernel_name("column_sum", format), plan.grid, kColumnThreads,
                      ColumnSumParameters{plan.tiles, x, scratch}),
          finish_columns(limits, columns, plan.grid.y, scratch, sums)};
}

}  // namespace headway::kernels::cuda
