// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/work.h"

namespace headway::kernels {

/// PowerSGD (Vogels et al., 2019): replaces a gradient matrix M [rows, columns] plus its
/// accumulated error by P·Q' with `rank` columns, by one power iteration that starts from the last
/// Q. Columns of P and of Q lie one after another. Gradients that are not matrices are sent
/// uncompressed, behind Q.
struct PowerMatrix {
  std::int64_t offset = 0;  ///< in `flat` and `error`
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t p = 0;  ///< offset in `p`; rows · rank values
  std::int64_t q = 0;  ///< offset in `second`; columns · rank values
};
struct PowerRest {
  std::int64_t offset = 0;  ///< in `flat`
  std::int64_t count = 0;
  std::int64_t at = 0;  ///< in `second`, behind all Q
};
/// The layout that the three ops of one bucket share. The spans and arrays must outlive the ops.
struct PowerLayout {
  int rank = 1;            ///< 1 to 64
  std::int64_t count = 0;  ///< values of `flat` and `error`
  std::span<const PowerMatrix> matrices;
  std::span<const PowerRest> rest;
  float* flat = nullptr;
  float* error = nullptr;   ///< zero at first
  float* p = nullptr;       ///< all P
  float* second = nullptr;  ///< all Q, then the rest; at first random, the same on all ranks
  std::int64_t second_count = 0;
};

/// flat = flat + error; P = M·Q with M in flat.
struct PowerFirst {
  PowerLayout layout;
};
/// Makes P orthonormal (Gram-Schmidt, column by column; 1e-8 is added to a norm, so that a zero
/// column does not divide by zero); Q = M'·P; copies the rest of flat to `second`. A column of
/// which less than a hundredth remains (kPowerLost of its square) is mostly rounding error and is
/// orthogonalised once more: M has fewer than `rank` directions. A column of which nothing remains
/// is first replaced by a unit vector; otherwise a gradient that is zero once would leave zeros in
/// Q forever.
inline constexpr float kPowerLost = 1e-4F;
struct PowerSecond {
  PowerLayout layout;
};
/// second = second · factor; error = flat - P·Q', flat = P·Q'; the rest of flat from `second`.
struct PowerRestore {
  PowerLayout layout;
  float factor = 1;
};

void run(const PowerFirst& op);
void run(const PowerSecond& op);
void run(const PowerRestore& op);

Work work_of(const PowerFirst& op);
Work work_of(const PowerSecond& op);
Work work_of(const PowerRestore& op);

}  // namespace headway::kernels
