// SPDX-License-Identifier: MIT
#include "kernels/heads/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// Calls body(index in the joined array, part, index in that part) for every element of the joined
/// array.
template <class Body>
__device__ void for_each_head_element(const HeadsParameters& a, const Body& body) {
  const std::int64_t columns = a.heads * a.depth;
  const std::int64_t width = a.parts * columns;
  for (std::int64_t at = global_thread(); at < a.batch * a.length * width; at += global_threads()) {
    const std::int64_t row = at / width;
    const std::int64_t column = at % width % columns;
    // Rows of the parts: batch, window, head, position.
    const std::int64_t window = row / a.window;  // of all sequences
    const std::int64_t group = window * a.heads + column / a.depth;
    body(at, static_cast<int>(at % width / columns),
         (group * a.window + row % a.window) * a.depth + column % a.depth);
  }
}

template <class T>
__device__ void split_body(const HeadsParameters& a) {
  for_each_head_element(a, [&](std::int64_t at, int part, std::int64_t place) {
    static_cast<T*>(a.split[part])[place] = static_cast<const T*>(a.joined)[at];
  });
}
template <class T>
__device__ void join_body(const HeadsParameters& a) {
  for_each_head_element(a, [&](std::int64_t at, int part, std::int64_t place) {
    static_cast<T*>(a.joined)[at] = static_cast<const T*>(a.split[part])[place];
  });
}

/// The value of a masked score: e^x of it is 0 in every format.
template <class T>
__device__ __forceinline__ T masked_score() {
  return from_float<T>(sizeof(T) == 2 ? -65504.0F : -1e30F);
}

template <class T>
__device__ void attention_mask_body(const MaskParameters& a) {
  const std::int64_t size = a.window * a.window;
  for (std::int64_t at = global_thread(); at < a.groups * size; at += global_threads()) {
    const std::int64_t number = at / size / a.heads % a.windows;
    const std::int64_t i = at % size / a.window;
    const std::int64_t j = at % a.window;
    const std::int64_t wrap = a.window - a.shift;
    const std::int64_t from = a.shift > 0 && number + 1 == a.windows && i >= wrap ? wrap : 0;
    static_cast<T*>(a.masked)[at] =
        j <= i && j >= from ? static_cast<const T*>(a.scores)[at] : masked_score<T>();
  }
}

template <class T>
__device__ void padding_mask_body(const MaskParameters& a) {
  for (std::int64_t at = global_thread(); at < a.batch * a.rows * a.length;
       at += global_threads()) {
    const bool padding = a.tokens[at % a.length * a.batch + at / a.length / a.rows] < 0;
    static_cast<T*>(a.masked)[at] =
        padding ? masked_score<T>() : static_cast<const T*>(a.scores)[at];
  }
}

template <class T>
__device__ void move_rows_body(const MoveRowsParameters& a) {
  for (std::int64_t at = global_thread(); at < a.rows * a.columns; at += global_threads()) {
    const std::int64_t row = at / a.columns;
    const std::int64_t source = a.shift < 0
                                    ? row % a.outer * a.inner + row / a.outer
                                    : row / a.length * a.length + (row + a.shift) % a.length;
    static_cast<T*>(a.to)[at] = static_cast<const T*>(a.from)[source * a.columns + at % a.columns];
  }
}

HEADWAY_KERNEL_PER_FORMAT(split_heads, 256, HeadsParameters, split_body)
HEADWAY_KERNEL_PER_FORMAT(join_heads, 256, HeadsParameters, join_body)
HEADWAY_KERNEL_PER_FORMAT(attention_mask, 256, MaskParameters, attention_mask_body)
HEADWAY_KERNEL_PER_FORMAT(padding_mask, 256, MaskParameters, padding_mask_body)
HEADWAY_KERNEL_PER_FORMAT(move_rows, 256, MoveRowsParameters, move_rows_body)

}  // namespace headway::kernels::cuda
