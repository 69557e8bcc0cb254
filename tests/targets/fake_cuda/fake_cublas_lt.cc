// SPDX-License-Identifier: MIT
// A libcublasLt.so.13 beside the fake driver: products as plain loops over the emulated memory, sums in double, with every
// argument checked. What a caller did not set, or set to nonsense, is refused with a line on standard error and the
// status that cuBLAS has for an invalid value. FAKE_CUBLAS_FAILS=NAME refuses that call; operands of products under TF32
// are rounded as the matrix unit does.
#include <cuda.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "kernels/cuda/driver/cublas_lt.h"

/// Of the fake driver beside this library (fake_cuda.cc).
extern "C" void fake_cuda_queue(CUstream stream, void (*work)(void*), void* argument);

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

using namespace headway::cuda::cublas_lt;

constexpr int kInvalidValue = 7;   // CUBLAS_STATUS_INVALID_VALUE
constexpr int kNotSupported = 15;  // CUBLAS_STATUS_NOT_SUPPORTED
constexpr std::uint64_t kChosen = 0x48656164776179;
constexpr std::size_t kWorkspace = 1000;

struct Description {
  Compute compute;
  std::int32_t transpose_a = 0;
  std::int32_t transpose_b = 0;
  std::uint32_t epilogue = 1;
  const void* bias = nullptr;
};
struct Layout {
  Type type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};
struct PreferenceValues {
  std::uint64_t workspace = 0;
  std::uint32_t alignment = 256;
};
std::set<void*> g_objects;  // all that were made and not destroyed

int refuse(const char* call, const char* why, int status = kInvalidValue) {
  std::fprintf(stderr, "fake cuBLASLt: %s refused: %s\n", call, why);
  return status;
}
bool fails(const char* call) {
  const char* name = std::getenv("FAKE_CUBLAS_FAILS");
  return name && std::strcmp(name, call) == 0;
}
template <class T>
int make(void** object, T* made, const char* call) {
  if (fails(call)) return refuse(call, "as FAKE_CUBLAS_FAILS says", kNotSupported);
  g_objects.insert(*object = made);
  return 0;
}
template <class T>
int drop(void* object, const char* call) {
  if (g_objects.erase(object) == 0) return refuse(call, "no such object");
  delete static_cast<T*>(object);
  return 0;
}
bool known(void* object) {
  return g_objects.contains(object);
}
template <class T>
int take(T& to, const void* value, std::size_t bytes, const char* call) {
  if (bytes != sizeof to) return refuse(call, "a value of another size");
  std::memcpy(&to, value, bytes);
  return 0;
}

double load(Type type, const void* array, std::int64_t at) {
  if (type == Type::kFp32) return static_cast<const float*>(array)[at];
  if (type == Type::kInt8) return static_cast<const std::int8_t*>(array)[at];
  if (type == Type::kFp16) return static_cast<double>(static_cast<const _Float16*>(array)[at]);
  const std::uint32_t bits = std::uint32_t{static_cast<const std::uint16_t*>(array)[at]} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
std::uint32_t rounded_bits(float value, int dropped) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t half = (1U << (dropped - 1)) - 1;
  if (std::isfinite(value)) bits += half + ((bits >> dropped) & 1);
  return bits >> dropped << dropped;
}
void store(Type type, void* array, std::int64_t at, double sum) {
  if (type == Type::kInt32) {
    static_cast<std::int32_t*>(array)[at] = static_cast<std::int32_t>(sum);
    return;
  }
  const auto value = static_cast<float>(sum);
  if (type == Type::kFp32)
    static_cast<float*>(array)[at] = value;
  else if (type == Type::kFp16)
    static_cast<_Float16*>(array)[at] = static_cast<_Float16>(value);
  else
    static_cast<std::uint16_t*>(array)[at] =
        static_cast<std::uint16_t>(rounded_bits(value, 16) >> 16);
}
double operand(Compute compute, Type type, const void* array, std::int64_t at) {
  const double value = load(type, array, at);
  if (compute != Compute::kTf32 || type != Type::kFp32) return value;
  const std::uint32_t bits = rounded_bits(static_cast<float>(value), 13);
  float rounded;
  std::memcpy(&rounded, &bits, sizeof rounded);
  return rounded;
}

struct WaitingProduct {
  Description by;
  Layout la, lb, ld;
  const void* a;
  const void* b;
  void* d;
  void* workspace;
  std::size_t workspace_bytes;
};

void run_product(void* argument) {
  const auto& [by, la, lb, ld, a, b, d, workspace, workspace_bytes] =
      *static_cast<WaitingProduct*>(argument);
  std::memset(workspace, 0xA5, workspace_bytes);  // whoever relies on it finds nonsense
  const auto m = static_cast<std::int64_t>(ld.rows);
  const auto n = static_cast<std::int64_t>(ld.columns);
  const auto k = static_cast<std::int64_t>(by.transpose_a ? la.rows : la.columns);
  const std::int64_t a_row = by.transpose_a ? la.leading : 1;
  const std::int64_t a_inner = by.transpose_a ? 1 : la.leading;
  const std::int64_t b_column = by.transpose_b ? 1 : lb.leading;
  const std::int64_t b_inner = by.transpose_b ? lb.leading : 1;
  for (std::int64_t group = 0; group < ld.batch; ++group)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = by.epilogue == 4 ? load(ld.type, by.bias, i) : 0;
        for (std::int64_t p = 0; p < k; ++p)
          sum += operand(by.compute, la.type, a, group * la.stride + i * a_row + p * a_inner) *
                 operand(by.compute, lb.type, b, group * lb.stride + j * b_column + p * b_inner);
        store(ld.type, d, group * ld.stride + i + j * ld.leading, sum);
      }
}

const char* wrong_shapes(const Description& by, const Layout& a, const Layout& b, const Layout& d) {
  const auto m = by.transpose_a ? a.columns : a.rows;
  const auto k = by.transpose_a ? a.rows : a.columns;
  const auto n = by.transpose_b ? b.rows : b.columns;
  if (d.rows != m || d.columns != n) return "the result's extents are not those of the product";
  if ((by.transpose_b ? b.columns : b.rows) != k) return "inner extents differ";
  if (a.type != b.type) return "operands of two types";
  if ((a.type == Type::kInt8) != (by.compute == Compute::kInt32))
    return "integers need their own sums";
  if (a.type == Type::kInt8) {
    if (d.type != Type::kInt32) return "sums of integers are of 32 bits";
    if (!by.transpose_a || by.transpose_b) return "integers are multiplied as TN";
    if (m % 4 != 0 || k % 4 != 0) return "integers in other than fours";
  } else if (a.type != d.type && d.type != Type::kFp32)
    return "no such types of operands and result";
  if (a.type == Type::kFp32 && d.type != Type::kFp32) return "a result narrower than the operands";
  if (by.compute == Compute::kTf32 && a.type != Type::kFp32) return "TF32 of other than FP32";
  if (a.batch != b.batch || a.batch != d.batch) return "batches differ";
  for (const Layout* layout : {&a, &b, &d}) {
    if (layout->rows == 0 || layout->columns == 0) return "an empty matrix";
    if (layout->leading < static_cast<std::int64_t>(layout->rows))
      return "a leading dimension shorter than a column";
    const auto whole = layout->leading * static_cast<std::int64_t>(layout->columns);
    if (layout->batch > 1 && layout->stride < whole) return "matrices of a batch overlap";
  }
  return nullptr;
}

}  // namespace

FAKE int cublasLtCreate(void** handle) {
  return make(handle, new int(0), "cublasLtCreate");
}
FAKE int cublasLtDestroy(void* handle) {
  return drop<int>(handle, "cublasLtDestroy");
}
FAKE int cublasLtMatmulDescCreate(void** description, Compute compute, Type scale) {
  const bool integers = compute == Compute::kInt32 && scale == Type::kInt32;
  if (!integers &&
      ((compute != Compute::kFp32 && compute != Compute::kTf32) || scale != Type::kFp32))
    return refuse("cublasLtMatmulDescCreate", "no such computation");
  return make(description, new Description{compute}, "cublasLtMatmulDescCreate");
}
FAKE int cublasLtMatmulDescSetAttribute(void* object, Attribute attribute, const void* value,
                                        std::size_t bytes) {
  constexpr const char* kCall = "cublasLtMatmulDescSetAttribute";
  if (!known(object)) return refuse(kCall, "no such description");
  auto& description = *static_cast<Description*>(object);
  switch (attribute) {
    case Attribute::kTransposeA:
      return take(description.transpose_a, value, bytes, kCall);
    case Attribute::kTransposeB:
      return take(description.transpose_b, value, bytes, kCall);
    case Attribute::kEpilogue:
      return take(description.epilogue, value, bytes, kCall);
    case Attribute::kBiasPointer:
      return take(description.bias, value, bytes, kCall);
  }
  return refuse(kCall, "no such attribute");
}
FAKE int cublasLtMatmulDescDestroy(void* description) {
  return drop<Description>(description, "cublasLtMatmulDescDestroy");
}
FAKE int cublasLtMatrixLayoutCreate(void** layout, Type type, std::uint64_t rows,
                                    std::uint64_t columns, std::int64_t leading) {
  return make(layout, new Layout{type, rows, columns, leading}, "cublasLtMatrixLayoutCreate");
}
FAKE int cublasLtMatrixLayoutSetAttribute(void* object, LayoutAttribute attribute,
                                          const void* value, std::size_t bytes) {
  constexpr const char* kCall = "cublasLtMatrixLayoutSetAttribute";
  if (!known(object)) return refuse(kCall, "no such layout");
  auto& layout = *static_cast<Layout*>(object);
  return attribute == LayoutAttribute::kBatchCount    ? take(layout.batch, value, bytes, kCall)
         : attribute == LayoutAttribute::kBatchStride ? take(layout.stride, value, bytes, kCall)
                                                      : refuse(kCall, "no such attribute");
}
FAKE int cublasLtMatrixLayoutDestroy(void* layout) {
  return drop<Layout>(layout, "cublasLtMatrixLayoutDestroy");
}
FAKE int cublasLtMatmulPreferenceCreate(void** preference) {
  return make(preference, new PreferenceValues, "cublasLtMatmulPreferenceCreate");
}
FAKE int cublasLtMatmulPreferenceSetAttribute(void* object, Preference attribute, const void* value,
                                              std::size_t bytes) {
  constexpr const char* kCall = "cublasLtMatmulPreferenceSetAttribute";
  if (!known(object)) return refuse(kCall, "no such preference");
  auto& preference = *static_cast<PreferenceValues*>(object);
  if (attribute == Preference::kMaxWorkspaceBytes)
    return take(preference.workspace, value, bytes, kCall);
  return take(preference.alignment, value, bytes, kCall);
}
FAKE int cublasLtMatmulPreferenceDestroy(void* preference) {
  return drop<PreferenceValues>(preference, "cublasLtMatmulPreferenceDestroy");
}
FAKE int cublasLtMatmulAlgoGetHeuristic(void* handle, void* description, void* a, void* b, void* c,
                                        void* d, void* preference, int wanted, Heuristic* results,
                                        int* found) {
  constexpr const char* kCall = "cublasLtMatmulAlgoGetHeuristic";
  for (void* object : {handle, description, a, b, c, d, preference})
    if (!known(object)) return refuse(kCall, "no such object");
  if (wanted < 1) return refuse(kCall, "no algorithm is asked for");
  const auto& by = *static_cast<Description*>(description);
  if (const char* why = wrong_shapes(by, *static_cast<Layout*>(a), *static_cast<Layout*>(b),
                                     *static_cast<Layout*>(d)))
    return refuse(kCall, why);
  if (by.epilogue == 4 && !by.bias) return refuse(kCall, "an epilogue with a bias, and no bias");
  *found = fails(kCall) ? 0 : 1;
  results[0] = {};
  results[0].algorithm.data[0] = kChosen;
  const auto most = static_cast<PreferenceValues*>(preference)->workspace;
  results[0].workspace_bytes = most < kWorkspace ? most : kWorkspace;
  return 0;
}
FAKE int cublasLtMatmul(void* handle, void* description, const void* alpha, const void* a,
                        void* layout_a, const void* b, void* layout_b, const void* beta,
                        const void* c, void* layout_c, void* d, void* layout_d,
                        const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes,
                        void* stream) {
  constexpr const char* kCall = "cublasLtMatmul";
  if (fails(kCall)) return refuse(kCall, "as FAKE_CUBLAS_FAILS says", kNotSupported);
  for (void* object : {handle, description, layout_a, layout_b, layout_c, layout_d})
    if (!known(object)) return refuse(kCall, "no such object");
  const auto& by = *static_cast<Description*>(description);
  const auto& la = *static_cast<Layout*>(layout_a);
  const auto& lb = *static_cast<Layout*>(layout_b);
  const auto& ld = *static_cast<Layout*>(layout_d);
  if (const char* why = wrong_shapes(by, la, lb, ld)) return refuse(kCall, why);
  if (algorithm->data[0] != kChosen) return refuse(kCall, "an algorithm that was not chosen");
  if (workspace_bytes < kWorkspace || !workspace) return refuse(kCall, "too little workspace");
  const bool whole = by.compute == Compute::kInt32;
  const bool plain =
      whole ? *static_cast<const std::int32_t*>(alpha) == 1 &&
                  *static_cast<const std::int32_t*>(beta) == 0
            : *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0;
  if (!stream || !plain || c != d) return refuse(kCall, "only d = a·b on a stream is known here");
  for (const void* address :
       {a, b, static_cast<const void*>(d), static_cast<const void*>(workspace)})
    if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
      return refuse(kCall, "an address that is no multiple of 16");
  // What it takes is kept as long as the work may run: a captured product runs again and again.
  fake_cuda_queue(static_cast<CUstream>(stream), run_product,
                  new WaitingProduct{by, la, lb, ld, a, b, d, workspace, workspace_bytes});
  return 0;
}
