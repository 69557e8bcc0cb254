// SPDX-License-Identifier: MIT
#include "kernels/heads/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

Launch launch(const Limits& limits, const char* kernel, NumberFormat format, std::int64_t count,
              const auto& by) {
  return make_launch("heads", kernel_name(kernel, format), flat_grid(limits, count, false),
                     kFlatThreads, by);
}

Launch heads(const Limits& limits, const char* kernel, NumberFormat format, const AttentionShape& s,
             const void* joined, std::initializer_list<const void*> split) {
  HeadsParameters by{};
  by.batch = s.batch, by.length = s.length, by.heads = s.heads, by.depth = s.depth;
  by.window = s.window;
  by.parts = static_cast<int>(split.size());
  by.joined = const_cast<void*>(joined);
  const std::int64_t count = s.batch * s.length * s.columns() * by.parts;
  require_flat(kernel, format, count, joined);
  int part = 0;
  for (const void* array : split) {
    require_flat(kernel, format, count, array);
    by.split[part++] = const_cast<void*>(array);
  }
  return launch(limits, kernel, format, count, by);
}

Launch move_rows(const Limits& limits, NumberFormat format, const MoveRowsParameters& by) {
  require_flat("move_rows", format, by.rows * by.columns, by.from, by.to);
  require(by.from != by.to, "move_rows", "rows cannot move in place");
  return launch(limits, "move_rows", format, by.rows * by.columns, by);
}

}  // namespace

Launch split_heads(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                   const void* qkv, void* q, void* k, void* v) {
  return heads(limits, "split_heads", format, shape, qkv, {q, k, v});
}
Launch join_heads(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                  const void* q, const void* k, const void* v, void* dqkv) {
  return heads(limits, "join_heads", format, shape, dqkv, {q, k, v});
}
Launch merge_heads(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                   const void* parts, void* y) {
  return heads(limits, "join_heads", format, shape, y, {parts});
}
Launch split_merged(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                    const void* dy, void* parts) {
  return heads(limits, "split_heads", format, shape, dy, {parts});
}

Launch attention_mask(const Limits& limits, NumberFormat format, const AttentionShape& s,
                      const void* scores, void* masked) {
  MaskParameters by{};
  by.groups = s.groups(), by.heads = s.heads, by.windows = s.windows(), by.window = s.window;
  by.shift = s.shift, by.scores = scores, by.masked = masked;
  const std::int64_t count = by.groups * s.window * s.window;
  require_flat("attention_mask", format, count, scores, masked);
  return launch(limits, "attention_mask", format, count, by);
}

Launch padding_mask(const Limits& limits, NumberFormat format, std::int64_t batch,
                    std::int64_t rows, std::int64_t length, const std::int32_t* tokens,
                    const void* scores, void* masked) {
  MaskParameters by{};
  by.batch = batch, by.rows = rows, by.length = length, by.tokens = tokens;
  by.scores = scores, by.masked = masked;
  const std::int64_t count = batch * rows * length;
  require_flat("padding_mask", format, count, scores, masked);
  require_flat("padding_mask", NumberFormat::kFloat32, 1, tokens);
  return launch(limits, "padding_mask", format, count, by);
}

Launch roll_rows(const Limits& limits, NumberFormat format, std::int64_t batch, std::int64_t length,
                 std::int64_t columns, std::int64_t shift, const void* from, void* to) {
  require(length > 0, "roll_rows", "sequences are empty");
  return move_rows(
      limits, format,
      {batch * length, columns, length, (shift % length + length) % length, 1, 1, from, to});
}

Launch swap_major(const Limits& limits, NumberFormat format, std::int64_t outer, std::int64_t inner,
                  std::int64_t columns, const void* from, void* to) {
  return move_rows(limits, format, {outer * inner, columns, 1, -1, outer, inner, from, to});
}

}  // namespace headway::kernels::cuda
