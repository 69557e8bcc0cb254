// SPDX-License-Identifier: MIT
// What is declared by hand or kept as text, against the toolkit where there is one.
#include "kernels/cuda/driver/cublas_lt.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "cli/calibrate/cuda/kernels.h"
#include "tests/support/temporary_folder.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

namespace headway::calibrate {

#ifdef CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA
using namespace cuda::cublas_lt;
static_assert(static_cast<int>(Type::kFp32) == CUDA_R_32F);
static_assert(static_cast<int>(Type::kFp16) == CUDA_R_16F);
static_assert(static_cast<int>(Type::kBf16) == CUDA_R_16BF);
static_assert(static_cast<int>(Compute::kFp32) == CUBLAS_COMPUTE_32F);
static_assert(static_cast<int>(Compute::kTf32) == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(static_cast<int>(Attribute::kTransposeA) == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(static_cast<int>(Attribute::kTransposeB) == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(static_cast<int>(Attribute::kEpilogue) == CUBLASLT_MATMUL_DESC_EPILOGUE);
static_assert(static_cast<int>(Attribute::kBiasPointer) == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(static_cast<int>(Operation::kTransposed) == CUBLAS_OP_T);
static_assert(static_cast<int>(Epilogue::kBias) == CUBLASLT_EPILOGUE_BIAS);
static_assert(static_cast<int>(LayoutAttribute::kBatchCount) == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(static_cast<int>(LayoutAttribute::kBatchStride) ==
              CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(static_cast<int>(Preference::kMaxWorkspaceBytes) ==
              CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(static_cast<int>(Preference::kAlignmentA) ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(static_cast<int>(Preference::kAlignmentD) ==
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));

TEST_CASE("cuBLASLt's interface is as its header has it") {}  // the assertions above
#else
TEST_CASE("cuBLASLt's interface is as its header has it") {
  MESSAGE("[skipped] no cublasLt.h here");
}
#endif

TEST_CASE("the kernels are PTX that the assembler takes, for each generation of GPUs") {
#ifdef HEADWAY_PTXAS
  const test::TemporaryFolder folder;
  const std::string text = folder / "kernels.ptx";
  const std::string binary = folder / "kernels.cubin";
  std::ofstream(text) << kKernels;
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    CAPTURE(architecture);
    CHECK(std::system((std::string("'" HEADWAY_PTXAS "' -arch=") + architecture + " '" + text +
                       "' -o '" + binary + "'")
                          .c_str()) == 0);
  }
#else
  MESSAGE("[skipped] no ptxas here");
#endif
}

}  // namespace headway::calibrate
