// SPDX-License-Identifier: MIT
#include "kernels/lstm/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

/// Floats of a block's shared memory, and threads of a block (kernel.cu).
constexpr std::int64_t kSharedFloats = 8192;
constexpr unsigned kLayerThreads = 512;
constexpr std::int64_t kMostRowsPerBlock = 4;

void require_shape(const char* kernel, const LstmShape& s, const LstmArrays& a) {
  require(s.steps > 0 && s.rows > 0 && s.hidden > 0, kernel, "there is no element");
  require_aligned(a.used, 4, kernel, "the number of steps");
}
void require_forward(const char* kernel, NumberFormat format, const LstmShape& s,
                     const LstmArrays& a) {
  require_shape(kernel, s, a);
  require_flat(kernel, format, 1, a.input, a.gates, a.cell, a.h, a.before);
}
void require_backward(const char* kernel, NumberFormat format, const LstmShape& s,
                      const LstmArrays& a) {
  require_shape(kernel, s, a);
  require_flat(kernel, format, 1, a.gates, a.cell, a.dh, a.dgates);
}

Launch cell(const Limits& limits, const char* kernel, NumberFormat format, const LstmShape& shape,
            std::int64_t step, const LstmArrays& arrays) {
  require(step >= 0 && step < shape.steps, kernel, "there is no such step");
  return make_launch("lstm", kernel_name(kernel, format),
                     {blocks_for(shape.rows * shape.hidden, kFlatThreads, limits)}, kFlatThreads,
                     LstmParameters{shape, arrays, step, 0});
}

/// `floats`: shared memory that one sequence needs, in floats.
Launch layer(const Limits& limits, const char* kernel, NumberFormat format, const LstmShape& shape,
             std::int64_t floats, const LstmArrays& arrays) {
  require(shape.hidden <= kMostLstmHidden, kernel, "the layer is wider than 2048");
  require_flat(kernel, format, 1, arrays.weights);
  // With few sequences, each has a block. With many, several share the weights that a block reads.
  const std::int64_t wanted = (shape.rows + limits.multiprocessors - 1) / limits.multiprocessors;
  const std::int64_t rows = std::clamp<std::int64_t>(
      wanted, 1, std::min(kMostRowsPerBlock, std::max<std::int64_t>(1, kSharedFloats / floats)));
  return make_launch("lstm", kernel_name(kernel, format),
                     {static_cast<unsigned>((shape.rows + rows - 1) / rows)}, kLayerThreads,
                     LstmParameters{shape, arrays, 0, static_cast<int>(rows)});
}

}  // namespace

Launch lstm_used(const LstmShape& shape, const std::int32_t* tokens, std::int32_t* used) {
  require(shape.steps > 0 && shape.rows > 0, "lstm_used", "there is no token");
  require_aligned(tokens, 4, "lstm_used", "the tokens");
  require_aligned(used, 4, "lstm_used", "the number of steps");
  return make_launch("lstm", "lstm_used", {1}, kFlatThreads,
                     LstmUsedParameters{shape, tokens, used});
}

Launch lstm_cell_forward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                         std::int64_t step, const LstmArrays& arrays) {
  require_forward("lstm_cell_forward", format, shape, arrays);
  if (step > 0) require_aligned(arrays.product, 4, "lstm_cell_forward", "the product");
  return cell(limits, "lstm_cell_forward", format, shape, step, arrays);
}

Launch lstm_cell_backward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                          std::int64_t step, const LstmArrays& arrays) {
  require_backward("lstm_cell_backward", format, shape, arrays);
  require_aligned(arrays.dcell, 4, "lstm_cell_backward", "the cell's gradient");
  if (step + 1 < shape.steps)
    require_aligned(arrays.dh_later, 4, "lstm_cell_backward", "the later step's gradient");
  return cell(limits, "lstm_cell_backward", format, shape, step, arrays);
}

Launch lstm_forward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                    const LstmArrays& arrays) {
  require_forward("lstm_forward", format, shape, arrays);
  return layer(limits, "lstm_forward", format, shape, 2 * shape.hidden, arrays);
}

Launch lstm_backward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                     const LstmArrays& arrays) {
  require_backward("lstm_backward", format, shape, arrays);
  return layer(limits, "lstm_backward", format, shape, 4 * shape.hidden, arrays);
}

}  // namespace headway::kernels::cuda
