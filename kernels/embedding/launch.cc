// SPDX-License-Identifier: MIT
#include "kernels/embedding/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

constexpr const char* kImage = "embedding";

void require_shape(EmbeddingShape s) {
  require(s.tokens > 0 && s.columns > 0 && s.entries > 0, kImage, "every extent must be positive");
  require(s.length > 0 && s.tokens % s.length == 0, kImage,
          "the tokens are no whole number of sequences");
}

}  // namespace

Launch embedding_forward(const Limits& limits, NumberFormat format, EmbeddingShape shape,
                         const EmbeddingArrays& a) {
  require_shape(shape);
  require_flat(kImage, format, 1, a.table, a.y);
  require_flat(kImage, NumberFormat::kFloat32, 1, a.tokens);
  const bool packed = shape.columns % kFlatPack == 0 && all_packed(a.table, a.positions, a.y);
  const std::int64_t packs = (shape.columns + kFlatPack - 1) / kFlatPack * shape.tokens;
  return make_launch(kImage, kernel_name("embedding_forward", format),
                     {blocks_for(packs, kFlatThreads, limits)}, kFlatThreads,
                     EmbeddingParameters{shape, a, packed});
}

Launches embedding_backward(const Limits& limits, NumberFormat format, EmbeddingShape shape,
                            const EmbeddingArrays& a, EmbeddingVariant variant) {
  require_shape(shape);
  require_flat(kImage, format, 1, a.dy);
  require_flat(kImage, NumberFormat::kFloat32, 1, a.tokens, a.dtable);
  const EmbeddingParameters by{shape, a, false};
  const std::int64_t values = shape.tokens * shape.columns;
  Launches launches;
  if (variant == EmbeddingVariant::kAtomic) {
    launches.push_back(make_launch(
        kImage, "embedding_zero", {blocks_for(shape.entries * shape.columns, kFlatThreads, limits)},
        kFlatThreads, by));
    launches.push_back(make_launch(kImage, kernel_name("embedding_atomic", format),
                                   {blocks_for(values, kFlatThreads, limits)}, kFlatThreads, by));
  } else {
    launches.push_back(make_launch(kImage, kernel_name("embedding_ordered", format),
                                   {blocks_for(shape.entries, 1, limits)}, kFlatThreads, by));
  }
  if (a.dpositions)
    launches.push_back(make_launch(kImage, kernel_name("embedding_positions", format),
                                   {blocks_for(shape.length * shape.columns, kFlatThreads, limits)},
                                   kFlatThreads, by));
  return launches;
}

}  // namespace headway::kernels::cuda
