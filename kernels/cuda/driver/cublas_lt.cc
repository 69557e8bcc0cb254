// SPDX-License-Identifier: MIT
#include "kernels/cuda/driver/cublas_lt.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "common/error.h"

namespace headway::cuda {
namespace {

template <class Function>
void find(void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (!function) fail_internal("cuBLASLt has no {}: use version 11 to 13", name);
}

}  // namespace

CublasLt::CublasLt() {
  void* library = nullptr;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"})
    if (!library) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail_internal(
        "cuBLASLt is not found by its name: add its folder (of the toolkit, or nvidia/cublas/lib "
        "or nvidia/cu13/lib among the Python packages) to LD_LIBRARY_PATH");
  find(library, create, "cublasLtCreate");
  find(library, destroy, "cublasLtDestroy");
  find(library, description_create, "cublasLtMatmulDescCreate");
  find(library, description_set, "cublasLtMatmulDescSetAttribute");
  find(library, description_destroy, "cublasLtMatmulDescDestroy");
  find(library, layout_create, "cublasLtMatrixLayoutCreate");
  find(library, layout_set, "cublasLtMatrixLayoutSetAttribute");
  find(library, layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(library, preference_create, "cublasLtMatmulPreferenceCreate");
  find(library, preference_set, "cublasLtMatmulPreferenceSetAttribute");
  find(library, preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(library, get_heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(library, matmul, "cublasLtMatmul");
  check(create(&handle_), "cublasLtCreate");
}

/// A failure here follows an earlier one, and a destructor cannot report it.
CublasLt::~CublasLt() {
  destroy(handle_);
}

void CublasLt::check(int status, const char* call) {
  if (status != 0) fail_internal("{} failed with status {}", call, status);
}

}  // namespace headway::cuda
