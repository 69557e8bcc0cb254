// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/attention/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

// The ops of unfused attention between its products (kernels/attention/op.h,
// kernels/sequence/op.h): moves of rows, and masks. All arrays have one format; nothing is rounded.

struct HeadsParameters {
  std::int64_t batch, length, heads, depth, window;
  int parts;       ///< 3: the joint projection; 1: the result
  void* joined;    ///< [batch·length][parts·heads·depth]
  void* split[3];  ///< [groups·window][depth] each
};
/// Writes q, k and v of each head, from rows of qkv that were rolled before.
Launch split_heads(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                   const void* qkv, void* q, void* k, void* v);
Launch join_heads(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                  const void* q, const void* k, const void* v, void* dqkv);
Launch merge_heads(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                   const void* parts, void* y);
Launch split_merged(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                    const void* dy, void* parts);

struct MaskParameters {
  std::int64_t groups, heads, windows, window, shift;  ///< of attention
  std::int64_t batch, rows, length;                    ///< of padding
  const std::int32_t* tokens;
  const void* scores;
  void* masked;
};
/// Sets -1e30 (FP16: -65504) where position i does not see j.
Launch attention_mask(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                      const void* scores, void* masked);
/// The same where the sequence's token is padding.
Launch padding_mask(const Limits& limits, NumberFormat format, std::int64_t batch,
                    std::int64_t rows, std::int64_t length, const std::int32_t* tokens,
                    const void* scores, void* masked);

struct MoveRowsParameters {
  std::int64_t rows, columns;
  std::int64_t length, shift;  ///< of a roll; shift < 0: rows in another order instead,
  std::int64_t outer, inner;   ///< from o·inner + i to i·outer + o
  const void* from;
  void* to;
};
Launch roll_rows(const Limits& limits, NumberFormat format, std::int64_t batch, std::int64_t length,
                 std::int64_t columns, std::int64_t shift, const void* from, void* to);
Launch swap_major(const Limits& limits, NumberFormat format, std::int64_t outer, std::int64_t inner,
                  std::int64_t columns, const void* from, void* to);

}  // namespace headway::kernels::cuda
