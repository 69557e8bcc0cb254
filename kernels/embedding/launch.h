// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/embedding/op.h"

namespace headway::kernels::cuda {

struct EmbeddingArrays {
  const std::int32_t* tokens = nullptr;
  const void* table = nullptr;      ///< forward, in the format
  const void* positions = nullptr;  ///< may be null
  void* y = nullptr;
  const void* dy = nullptr;     ///< backward
  float* dtable = nullptr;      ///< FP32 in every format: many small numbers are added
  float* dpositions = nullptr;  ///< may be null
};
enum class EmbeddingVariant {
  kAtomic,  ///< every token adds to its row of dtable; the order, and so the last bits, vary
  kOrdered,  ///< a block per row of the table looks for its tokens: the same bits always; for small tables
};

struct EmbeddingParameters {
  EmbeddingShape shape;
  EmbeddingArrays arrays;
  bool packed;
};

/// kernels/embedding/op.h.
Launch embedding_forward(const Limits& limits, NumberFormat format, EmbeddingShape shape,
                         const EmbeddingArrays& arrays);
Launches embedding_backward(const Limits& limits, NumberFormat format, EmbeddingShape shape,
                            const EmbeddingArrays& arrays, EmbeddingVariant variant);

}  // namespace headway::kernels::cuda
