// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::cuda {

/// The part of cuBLASLt's interface that products need. It is declared here because its headers
/// belong to neither the CUDA driver nor the wheels that Headway builds with. The values are those
/// of cuBLAS 11 to 13; a test compares them with the header where there is one.
namespace cublas_lt {

enum class Type : int { kFp32 = 0, kFp16 = 2, kInt8 = 3, kInt32 = 10, kBf16 = 14 };  // cudaDataType
enum class Compute : int { kFp32 = 68, kInt32 = 72, kTf32 = 77 };  // cublasComputeType_t
enum class Attribute : int {                                       // of a product's description
  kTransposeA = 3,                                                 ///< int32
  kTransposeB = 4,                                                 ///< int32
  kEpilogue = 7,                                                   ///< uint32
  kBiasPointer = 8,                                                ///< const void*
};
enum class Operation : std::int32_t { kPlain = 0, kTransposed = 1 };  // cublasOperation_t
enum class Epilogue : std::uint32_t { kNone = 1, kBias = 4 };         // cublasLtEpilogue_t
enum class LayoutAttribute : int { kBatchCount = 5 /* int32 */, kBatchStride = 6 /* int64 */ };
enum class Preference : int {
  kMaxWorkspaceBytes = 1,  ///< uint64
  kAlignmentA = 5,         ///< uint32, as the three below
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8,
};
inline constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // NVIDIA's advice for Hopper

/// Opaque: cuBLASLt's heuristics return it, and it is passed back to cuBLASLt.
struct Algorithm {
  std::uint64_t data[8];
};
/// One result of the heuristics; they return the best first.
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace_bytes;  ///< what the algorithm needs
  int status;                   ///< 0: it can be used
  float waves;                  ///< of blocks that the GPU runs one after the other
  int reserved[4];
};

}  // namespace cublas_lt

/// cuBLASLt, of whichever version is found, loaded at run time and never unloaded, with a handle
/// for the current context. Functions return 0 on success.
class CublasLt {
 public:
  /// Throws Error (internal) when it is not found, or too old.
  CublasLt();
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  /// Throws Error (internal) naming the call.
  static void check(int status, const char* call);
  void* handle() const { return handle_; }

  using Create = int(void** object);
  using Destroy = int(void* object);
  Create* create = nullptr;
  Destroy* destroy = nullptr;
  int (*description_create)(void** description, cublas_lt::Compute compute,
                            cublas_lt::Type scale) = nullptr;
  int (*description_set)(void* description, cublas_lt::Attribute attribute, const void* value,
                         std::size_t bytes) = nullptr;
  Destroy* description_destroy = nullptr;
  int (*layout_create)(void** layout, cublas_lt::Type type, std::uint64_t rows,
                       std::uint64_t columns, std::int64_t leading) = nullptr;
  int (*layout_set)(void* layout, cublas_lt::LayoutAttribute attribute, const void* value,
                    std::size_t bytes) = nullptr;
  Destroy* layout_destroy = nullptr;
  Create* preference_create = nullptr;
  int (*preference_set)(void* preference, cublas_lt::Preference attribute, const void* value,
                        std::size_t bytes) = nullptr;
  Destroy* preference_destroy = nullptr;
  int (*get_heuristic)(void* handle, void* description, void* a, void* b, void* c, void* d,
                       void* preference, int wanted, cublas_lt::Heuristic* results,
                       int* found) = nullptr;
  int (*matmul)(void* handle, void* description, const void* alpha, const void* a, void* layout_a,
                const void* b, void* layout_b, const void* beta, const void* c, void* layout_c,
                void* d, void* layout_d, const cublas_lt::Algorithm* algorithm, void* workspace,
                std::size_t workspace_bytes, void* stream) = nullptr;

 private:
  void* handle_ = nullptr;
};

}  // namespace headway::cuda
