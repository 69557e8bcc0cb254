// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "kernels/cuda/driver/cublas_lt.h"

namespace headway::cuda {

/// d = a·b for each of `batch` products that lie one after the other: a [m][k], b [k][n], d [m][n],
/// row-major and dense. Transposed operands are stored [k][m] or [n][k]. Sums are FP32. For kInt8
/// operands they are exact, as kInt32; then b must be transposed, a must not, and n and k must be
/// multiples of 4.
struct ProductShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  bool transpose_a = false;
  bool transpose_b = false;
  cublas_lt::Type operands = cublas_lt::Type::kFp32;
  cublas_lt::Type result = cublas_lt::Type::kFp32;
  bool tf32 = false;  ///< FP32 operands may be rounded to TF32
  bool bias = false;  ///< d = a·b + bias, a vector [n] of d's type, in every row
};

/// One product with its descriptions and the algorithm that cuBLASLt ranks best, made once and run
/// every step. `library` must outlive it. For one thread.
class Product {
 public:
  /// Addresses must be multiples of 16. Throws Error (internal) when cuBLASLt cannot compute it on
  /// this GPU.
  Product(const CublasLt& library, const ProductShape& shape);

  const ProductShape& shape() const { return shape_; }
  /// Bytes of scratch memory that run() needs; at most cublas_lt::kWorkspaceBytes.
  std::size_t workspace_bytes() const { return best_.workspace_bytes; }
  /// Sets the address of the bias for run(); one call is enough.
  void set_bias(const void* bias);
  /// Queues the product on the stream.
  void run(CUstream stream, const void* a, const void* b, void* d, void* workspace) const;

 private:
  using Object = std::unique_ptr<void, CublasLt::Destroy*>;
  Object layout(cublas_lt::Type type, std::int64_t rows, std::int64_t columns) const;
  void describe();
  void choose();

  const CublasLt& library_;
  ProductShape shape_;
  Object description_;
  Object a_;
  Object b_;
  Object d_;
  cublas_lt::Heuristic best_{};
};

}  // namespace headway::cuda
