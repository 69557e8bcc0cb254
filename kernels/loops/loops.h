// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/batch_norm.h"
#include "kernels/panel.h"
#include "kernels/sgd_momentum.h"

namespace headway::kernels {

/// Per-lane constants of batch normalisation's backward loops.
struct BackwardLanes {
  alignas(32) float mean[kLanes];
  alignas(32) float scale[kLanes];  ///< forward: z = x · scale + shift (kRelu recomputes the mask)
  alignas(32) float shift[kLanes];
};

// The innermost loops of all kernels, one thread's piece each: name, and parameters. Declared once,
// here; the table below and each instruction set's functions come from this list.
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
  LOOP(sgd_apply, (std::int64_t count, const float* v, float rate, float* p))

struct Loops {
  const char* isa;
#define HEADWAY_LOOP_POINTER(name, parameters) void(*name) parameters;
  HEADWAY_LOOPS(HEADWAY_LOOP_POINTER)
#undef HEADWAY_LOOP_POINTER
};

/// The loops for the widest instruction set that this processor has and this build holds.
const Loops& loops();

#ifdef HEADWAY_ISA
namespace HEADWAY_ISA {
#define HEADWAY_LOOP_FUNCTION(name, parameters) void name parameters;
HEADWAY_LOOPS(HEADWAY_LOOP_FUNCTION)
#undef HEADWAY_LOOP_FUNCTION
}  // namespace HEADWAY_ISA
#endif

}  // namespace headway::kernels
