// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "kernels/cuda/table.h"

// Optimizer kernels over all parameters at once (table.h). Tensors are cut into chunks, which the
// blocks share.
namespace headway::kernels::cuda {

/// Elements of a chunk.
inline constexpr std::int64_t kChunk = 16384;

/// How a kernel writes the copy of a parameter that training computes with, in addition to the FP32
/// parameter that it updates.
enum class CopyFormat : std::int32_t {
  kNone,
  kFloat16,
  kBfloat16,
  kRoundedFloat16,  ///< FP32 in memory, rounded to values of FP16
  kRoundedBfloat16,
};

struct TableTensor {
  float* parameter = nullptr;  ///< what is updated, FP32
  float* first = nullptr;      ///< velocity, or Adam's mean
  float* second = nullptr;     ///< Adam's variance
  void* gradient = nullptr;    ///< in the kernel's format
  float* direction = nullptr;  ///< LAMB's
  void* copy = nullptr;        ///< by CopyFormat
  std::int64_t count = 0;
  std::int32_t first_chunk = 0;  ///< within the launch; set by table_launches
  std::int32_t number = 0;       ///< of the tensor among all tensors; set by table_launches
};

/// Values that are the same for all tensors. Each kernel reads what it needs.
struct TableStep {
  float rate = 0;
  float momentum = 0;  ///< SGD, LARS
  float beta1 = 0;
  float beta2 = 0;
  float epsilon = 0;
  float decay = 0;
  float trust = 0;        ///< LARS
  float correction1 = 1;  ///< used where there is no state
  float correction2 = 1;
  float gradient_scale = 1;
  CopyFormat copy_format = CopyFormat::kNone;
  std::int32_t tensors = 0;  ///< of the launch; set by table_launches, as the two below
  std::int32_t chunks = 0;
  std::int32_t chunk_offset = 0;  ///< chunks of the launches before
  /// kernels::OptimizerState: an overflow skips the update; the number of steps taken gives Adam's
  /// corrections. May be null.
  float* state = nullptr;
  double* parts = nullptr;                    ///< norms: a sum per chunk
  double* squares = nullptr;                  ///< norms: the result, per tensor
  const double* parameter_squares = nullptr;  ///< LAMB, LARS
  const double* other_squares = nullptr;
};

using SmallTable = Table<TableStep, TableTensor, kSmallParameters>;
using LargeTable = Table<TableStep, TableTensor, kLargeParameters>;

/// The number of chunks of all tensors: the number of doubles in TableStep::parts.
std::int64_t count_chunks(std::span<const TableTensor> tensors);

/// Launches of `name`_small or `name`_large over all tensors, each with as many tensors as fit in
/// the table; empty tensors are left out. The small one is used where all tensors fit in it,
/// because it sends fewer bytes. `name`: without the suffix.
Launches table_launches(const Limits& limits, const char* image, const std::string& name,
                        const TableStep& by, std::span<const TableTensor> tensors);

}  // namespace headway::kernels::cuda
