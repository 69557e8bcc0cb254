// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/loops/adam_step.h"
#include "kernels/loops/epilogue.h"
#include "kernels/loops/panel.h"
#include "kernels/loops/row_op.h"
#include "kernels/loops/sgd_parameters.h"
#include "kernels/number_format.h"

namespace headway::kernels {

/// Per-lane constants of batch normalisation's backward loops.
struct BackwardLanes {
  alignas(32) float mean[kLanes];
  alignas(32) float scale[kLanes];  ///< forward: z = x · scale + shift (kRelu recomputes the mask)
  alignas(32) float shift[kLanes];
};

/// C = A·B, or C += A·B: A is m x k with any strides, B k x n and C m x n with contiguous rows.
struct SmallGemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  const float* a = nullptr;
  std::int64_t a_row = 0;     ///< floats from one row of A to the next
  std::int64_t a_column = 1;  ///< from one column to the next; swapped with a_row: A transposed
  const float* b = nullptr;
  std::int64_t b_row = 0;
  float* c = nullptr;
  std::int64_t c_row = 0;
  bool accumulate = false;
};

/// The samples beside the pixels of a row (kernels/loops/jpeg_arithmetic.h), and how they give a
/// sample for each pixel.
struct JpegSampleRows {
  std::int64_t samples = 0;
  const std::uint8_t* nearer = nullptr;
  const std::uint8_t* farther = nullptr;  ///< null: no interpolation between rows
  bool later = false;                     ///< which of a sample row's two pixel rows
  int columns_per_sample = 1;
  bool repeat = false;  ///< no interpolation at all
};

// The innermost loops of all kernels; each handles one thread's piece: name, and parameters. They
// are declared only here; the table below and the functions of each instruction set come from this
// list.
#define HEADWAY_LOOPS(LOOP)                                                                      \
  /* sum += column sums of x */                                                                  \
  LOOP(panel_sums, (const float* x, const Panel& p, float* sum))                                 \
  /* sum += column sums of x - centre, squares += of (x - centre)² */                           \
  LOOP(panel_moments,                                                                            \
       (const float* x, const Panel& p, const float* centre, float* sum, float* squares))        \
  /* y = epilogue(x · scale + shift) */                                                         \
  LOOP(panel_apply, (Epilogue epilogue, const float* x, const float* r, const Panel& p,          \
                     const float* scale, const float* shift, float* y, std::uint8_t* mask))      \
  /* sum_dz += column sums of dz, sum_dzx += of dz · (x - mean); kAddRelu writes dz */          \
  LOOP(panel_reduce,                                                                             \
       (Epilogue epilogue, const float* x, const float* dy, const std::uint8_t* mask, float* dz, \
        const Panel& p, const BackwardLanes& lanes, float* sum_dz, float* sum_dzx))              \
  /* dx = a · dz + b · x + c */                                                                \
  LOOP(panel_backward,                                                                           \
       (bool remask, const float* x, const float* dz, float* dx, const Panel& p,                 \
        const BackwardLanes& lanes, const float* a, const float* b, const float* c))             \
  LOOP(relu_forward, (std::int64_t count, const float* x, float* y))                             \
  LOOP(relu_backward, (std::int64_t count, const float* y, const float* dy, float* dx))          \
  LOOP(add, (std::int64_t count, const float* a, const float* b, float* c))                      \
  LOOP(sgd_update, (std::int64_t count, float* p, float* v, const float* g, SgdParameters by))   \
  LOOP(sgd_decay, (std::int64_t count, const float* g, const float* p, float decay, float* d))   \
  LOOP(sgd_scale, (std::int64_t count, float factor, float* v))                                  \
  LOOP(sgd_accumulate, (std::int64_t count, const float* d, float* v))                           \
  LOOP(sgd_apply, (std::int64_t count, const float* v, float rate, float* p))                    \
  LOOP(adam_update,                                                                              \
       (std::int64_t count, float* p, float* m, float* v, const float* g, const AdamStep& by))   \
  LOOP(adam_direction, (std::int64_t count, const float* p, float* m, float* v, const float* g,  \
                        const AdamStep& by, float* direction))                                   \
  LOOP(adam_size, (std::int64_t count, const float* v, const AdamStep& by, float* size))         \
  LOOP(adam_apply,                                                                               \
       (std::int64_t count, const float* m, const float* size, const AdamStep& by, float* p))    \
  LOOP(row_unary, (RowOp op, std::int64_t count, const float* a, float constant, float* out))    \
  LOOP(row_binary, (RowOp op, std::int64_t count, const float* a, const float* b, float* out))   \
  LOOP(row_binary_one, (RowOp op, std::int64_t count, const float* a, float b, float* out))      \
  LOOP(dropout, (std::int64_t count, const float* a, std::uint32_t key, std::uint64_t first,     \
                 float rate, float* out))                                                        \
  LOOP(round_to, (NumberFormat format, std::int64_t count, const float* from, float* to))        \
  LOOP(small_gemm, (const SmallGemm& g))                                                         \
  LOOP(transpose, (std::int64_t rows, std::int64_t columns, const float* from,                   \
                   std::int64_t from_row, float scale, float* to, std::int64_t to_row))          \
  LOOP(softmax_backward_row,                                                                     \
       (std::int64_t count, const float* p, const float* dp, float shift, float* ds))            \
  LOOP(layer_norm_row, (std::int64_t count, const float* x, float mean, float rstd,              \
                        const float* gamma, const float* beta, float* y))                        \
  LOOP(layer_norm_sums,                                                                          \
       (std::int64_t count, const float* x, const float* dy, float mean, float rstd,             \
        const float* gamma, float* dgamma, float* dbeta, float* sums))                           \
  LOOP(layer_norm_backward_row,                                                                  \
       (std::int64_t count, const float* x, const float* dy, const float* more, float mean,      \
        float rstd, const float* gamma, float a, float b, float* dx))                            \
  LOOP(lstm_cell, (std::int64_t n, float* gates, const float* before, float* cell, float* h))    \
  LOOP(lstm_cell_backward,                                                                       \
       (std::int64_t n, const float* gates, const float* before, const float* cell,              \
        const float* dh, const float* dh_later, float* dcell, float* dgates))                    \
  LOOP(bias_gelu_row, (std::int64_t count, const float* x, const float* bias, float* y))         \
  LOOP(bias_gelu_backward_row, (std::int64_t count, const float* x, const float* bias,           \
                                const float* dy, float* dx, float* dbias))                       \
  /* Samples of `count` neighbouring blocks; `row` of them from one row to the next */           \
  LOOP(jpeg_samples, (std::int64_t count, const std::int16_t* coefficients,                      \
                      const std::uint16_t* steps, std::uint8_t* to, std::int64_t row))           \
  LOOP(jpeg_widen, (const JpegSampleRows& rows, std::uint8_t* to))                               \
  /* A grey row where cb is null */                                                              \
  LOOP(jpeg_colours, (std::int64_t count, const std::uint8_t* y, const std::uint8_t* cb,         \
                      const std::uint8_t* cr, std::uint8_t* rgb))

// The same for loops that return a value.
#define HEADWAY_SUM_LOOPS(LOOP)                                                \
  LOOP(row_sum, (std::int64_t count, const float* a))                          \
  LOOP(row_largest, (std::int64_t count, const float* a))                      \
  LOOP(row_exp, (std::int64_t count, const float* a, float shift, float* out)) \
  LOOP(row_dot, (std::int64_t count, const float* a, const float* b))          \
  LOOP(row_squares, (std::int64_t count, const float* a, float shift))

struct Loops {
  const char* isa;
#define HEADWAY_LOOP_POINTER(name, parameters) void(*name) parameters;
  HEADWAY_LOOPS(HEADWAY_LOOP_POINTER)
#undef HEADWAY_LOOP_POINTER
#define HEADWAY_LOOP_POINTER(name, parameters) float(*name) parameters;
  HEADWAY_SUM_LOOPS(HEADWAY_LOOP_POINTER)
#undef HEADWAY_LOOP_POINTER
};

/// The loops for the widest instruction set that both this processor and this build have.
const Loops& loops();

#ifdef HEADWAY_ISA
namespace HEADWAY_ISA {
#define HEADWAY_LOOP_FUNCTION(name, parameters) void name parameters;
HEADWAY_LOOPS(HEADWAY_LOOP_FUNCTION)
#undef HEADWAY_LOOP_FUNCTION
#define HEADWAY_LOOP_FUNCTION(name, parameters) float name parameters;
HEADWAY_SUM_LOOPS(HEADWAY_LOOP_FUNCTION)
#undef HEADWAY_LOOP_FUNCTION
}  // namespace HEADWAY_ISA
#endif

}  // namespace headway::kernels
