// SPDX-License-Identifier: MIT
#pragma once

namespace headway::kernels {

/// What a pass over an array does with each value z before it stores y; it fuses the operation that
/// follows:
enum class Epilogue {
  kNone,     ///< y = z
  kRelu,     ///< y = max(z, 0)
  kAddRelu,  ///< y = max(z + r, 0), r = the residual branch
};

}  // namespace headway::kernels
