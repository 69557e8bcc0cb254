// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// What of cuBLASLt's interface the products need. Declared here because its headers are part of neither
/// the CUDA driver nor the wheels that Headway builds with; the values are those of cuBLAS 11 to 13, which
/// a test compares with the header where there is one.
namespace headway::calibrate::cublas_lt {

enum class Type : int { kFp32 = 0, kFp16 = 2, kBf16 = 14 };            // cudaDataType
enum class Compute : int { kFp32 = 68, kTf32 = 77 };                   // cublasComputeType_t
inline constexpr int kMaxWorkspaceBytes = 1;                           // of a preference
inline constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // NVIDIA's advice for Hopper

struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

using Create = int(void** handle);
using Destroy = int(void* handle);
using DescriptionCreate = int(void** description, Compute compute, Type scale);
using LayoutCreate = int(void** layout, Type type, std::uint64_t rows, std::uint64_t columns,
                         std::int64_t leading);
using PreferenceCreate = int(void** preference);
using PreferenceSet = int(void* preference, int attribute, const void* value, std::size_t bytes);
using GetHeuristic = int(void* handle, void* description, void* a, void* b, void* c, void* d,
                         void* preference, int wanted, Heuristic* results, int* found);
using Matmul = int(void* handle, void* description, const void* alpha, const void* a,
                   void* layout_a, const void* b, void* layout_b, const void* beta, const void* c,
                   void* layout_c, void* d, void* layout_d, const Algorithm* algorithm,
                   void* workspace, std::size_t workspace_bytes, void* stream);

}  // namespace headway::calibrate::cublas_lt
