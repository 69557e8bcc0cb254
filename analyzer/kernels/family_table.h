// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "analyzer/kernels/families.h"

/// The tables behind classify_kernel(). In each, the first row that matches wins.
///
/// A pattern is lower-case text that must occur in the lower-cased name; `*` stands for any text
/// between two parts, and a leading `^` ties the first part to the start of the function's name
/// (after "void " and the like).
namespace headway::analyzer {

struct FamilyRow {
  std::string_view pattern;
  KernelFamily family;
  std::string_view source;  ///< library, and the file or naming scheme that the pattern is from
};
std::span<const FamilyRow> family_rows();

struct MathRow {
  std::string_view pattern;
  trace::MathUnit unit;
  Precision precision;  ///< kUnknown: left to the precision rows
  std::string_view source;
};
/// For matrix work only.
std::span<const MathRow> math_rows();

struct PrecisionRow {
  std::string_view pattern;
  Precision precision;
};
std::span<const PrecisionRow> precision_rows();

struct PassRow {
  std::string_view pattern;
  ConvPass pass;
  bool strided;
  std::string_view source;
};
/// For convolutions only.
std::span<const PassRow> pass_rows();

struct ArchitectureRow {
  std::string_view pattern;
  std::uint16_t architecture;
};
std::span<const ArchitectureRow> architecture_rows();

}  // namespace headway::analyzer
