// SPDX-License-Identifier: MIT
// cuBLASLt stores matrices column by column, so it sees a row-major matrix as its transpose. It
// therefore computes dᵀ = bᵀ·aᵀ: the operands are exchanged, and no data moves.
#include "kernels/cuda/driver/product.h"

#include <fmt/format.h>

#include <bit>

#include "common/error.h"

namespace headway::cuda {

using namespace cublas_lt;

namespace {

constexpr std::uint32_t kAlignment = 16;  // of all addresses

}  // namespace

Product::Product(const CublasLt& library, const ProductShape& shape)
    : library_(library),
      shape_(shape),
      description_(nullptr, library.description_destroy),
      a_(layout(shape.operands, shape.transpose_a ? shape.k : shape.m,
                shape.transpose_a ? shape.m : shape.k)),
      b_(layout(shape.operands, shape.transpose_b ? shape.n : shape.k,
                shape.transpose_b ? shape.k : shape.n)),
      d_(layout(shape.result, shape.m, shape.n)) {
  describe();
  choose();
}

/// The layout of a row-major matrix of `rows` x `columns`.
Product::Object Product::layout(Type type, std::int64_t rows, std::int64_t columns) const {
  void* raw = nullptr;
  CublasLt::check(library_.layout_create(&raw, type, static_cast<std::uint64_t>(columns),
                                         static_cast<std::uint64_t>(rows), columns),
                  "cublasLtMatrixLayoutCreate");
  Object made(raw, library_.layout_destroy);
  if (shape_.batch == 1) return made;
  const auto count = static_cast<std::int32_t>(shape_.batch);
  const std::int64_t stride = rows * columns;
  CublasLt::check(library_.layout_set(raw, LayoutAttribute::kBatchCount, &count, sizeof count),
                  "cublasLtMatrixLayoutSetAttribute");
  CublasLt::check(library_.layout_set(raw, LayoutAttribute::kBatchStride, &stride, sizeof stride),
                  "cublasLtMatrixLayoutSetAttribute");
  return made;
}

void Product::describe() {
  void* raw = nullptr;
  const bool integers = shape_.operands == Type::kInt8;
  const Compute compute = integers      ? Compute::kInt32
                          : shape_.tf32 ? Compute::kTf32
                                        : Compute::kFp32;
  CublasLt::check(library_.description_create(&raw, compute, integers ? Type::kInt32 : Type::kFp32),
                  "cublasLtMatmulDescCreate");
  description_.reset(raw);
  auto set = [&](Attribute attribute, const auto& value) {
    CublasLt::check(library_.description_set(raw, attribute, &value, sizeof value),
                    "cublasLtMatmulDescSetAttribute");
  };
  auto operation = [](bool transposed) {
    return transposed ? Operation::kTransposed : Operation::kPlain;
  };
  set(Attribute::kTransposeA, operation(shape_.transpose_b));
  set(Attribute::kTransposeB, operation(shape_.transpose_a));
  if (!shape_.bias) return;
  set(Attribute::kEpilogue, Epilogue::kBias);
  // The choice of an algorithm may depend on the bias address. Until set_bias, an address with the
  // guaranteed alignment stands in for it.
  set_bias(std::bit_cast<const void*>(std::uintptr_t{kAlignment}));
}

void Product::choose() {
  void* raw = nullptr;
  CublasLt::check(library_.preference_create(&raw), "cublasLtMatmulPreferenceCreate");
  const Object preference(raw, library_.preference_destroy);
  auto set = [&](Preference attribute, const auto& value) {
    CublasLt::check(library_.preference_set(raw, attribute, &value, sizeof value),
                    "cublasLtMatmulPreferenceSetAttribute");
  };
  constexpr std::uint64_t kMost = kWorkspaceBytes;
  set(Preference::kMaxWorkspaceBytes, kMost);
  for (Preference of : {Preference::kAlignmentA, Preference::kAlignmentB, Preference::kAlignmentC,
                        Preference::kAlignmentD})
    set(of, kAlignment);
  int found = 0;
  CublasLt::check(library_.get_heuristic(library_.handle(), description_.get(), b_.get(), a_.get(),
                                         d_.get(), d_.get(), preference.get(), 1, &best_, &found),
                  "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0)
    fail_internal("cuBLASLt knows no algorithm on this GPU for a product of {} x {} x {}", shape_.m,
                  shape_.n, shape_.k);
}

void Product::set_bias(const void* bias) {
  HEADWAY_INVARIANT(shape_.bias);
  CublasLt::check(
      library_.description_set(description_.get(), Attribute::kBiasPointer, &bias, sizeof bias),
      "cublasLtMatmulDescSetAttribute");
}

void Product::run(CUstream stream, const void* a, const void* b, void* d, void* workspace) const {
  const float real[] = {1, 0};
  const std::int32_t whole[] = {1, 0};
  const bool integers = shape_.operands == Type::kInt8;
  const void* const one = integers ? static_cast<const void*>(whole) : real;
  const void* const zero = integers ? static_cast<const void*>(whole + 1) : real + 1;
  CublasLt::check(library_.matmul(library_.handle(), description_.get(), one, b, b_.get(), a,
                                  a_.get(), zero, d, d_.get(), d, d_.get(), &best_.algorithm,
                                  workspace, best_.workspace_bytes, stream),
                  "cublasLtMatmul");
}

}  // namespace headway::cuda
