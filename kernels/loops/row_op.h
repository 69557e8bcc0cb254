// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::kernels {

/// Elementwise arithmetic over an array of rows x columns, as a list of instructions that runs once
/// per row (or piece of a row), so that intermediate values stay in the first-level cache. A single
/// instruction is an ordinary elementwise kernel; a graph compiler turns a chain of ops into
/// several.
///
/// A value is full (one float per element), per row (one per row) or per column (one per column).
/// Operands of different kinds are broadcast. The result of an instruction is full when any operand
/// is full, and per row for reductions and for arithmetic on per-row values alone.
enum class RowOp : std::uint8_t {
  kAdd,           ///< a + b
  kSubtract,      ///< a - b
  kMultiply,      ///< a · b
  kScale,         ///< constant · a
  kRelu,          ///< max(a, 0)
  kReluBackward,  ///< b where a > 0, else 0  (a: the result of relu, b: dy)
  kGelu,          ///< a · Φ(a) in its tanh form
  kGeluBackward,  ///< b · gelu'(a)
  kTanh,
  kTanhBackward,  ///< b · (1 - a²)  (a: the result of tanh, b: dy)
  kDropout,  ///< a / (1 - constant) or 0, with probability `constant`, by a hash of (key, seed,
             ///< element); the same form is its own gradient
  kRsqrt,    ///< 1 / sqrt(a + constant)
  kRsqrtBackward,  ///< -a³ · b / 2  (a: the result of rsqrt, b: dy)
  kRowMean,        ///< per row: mean of a
  kRowSum,         ///< per row: sum of a
  kSpread,         ///< constant · a for every column  (a: per row)
  kRound,          ///< a rounded to `format`
};

enum class RowKind : std::uint8_t { kFull, kPerRow, kPerColumn };

}  // namespace headway::kernels
