// SPDX-License-Identifier: MIT
#include "analyzer/kernels/families.h"

#include <algorithm>
#include <array>

#include "analyzer/kernels/family_table.h"

namespace headway::analyzer {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Position of the function name, after the return type.
std::size_t function_start(std::string_view name) {
  constexpr std::string_view kVoid = "void ";
  if (name.starts_with(kVoid)) return kVoid.size();
  constexpr std::string_view kSimulated = "sim::";  // a simulated GPU names kernels by their op
  if (name.starts_with(kSimulated)) return kSimulated.size();
  constexpr std::string_view kEnableIf = "::type ";  // "std::enable_if<…>::type f"
  if (name.starts_with("std::enable_if")) {
    std::size_t end = name.find(kEnableIf);
    if (end != std::string_view::npos) return end + kEnableIf.size();
  }
  return 0;
}

/// A blank at the end of a pattern also matches the end of the name.
bool begins_with(std::string_view text, std::string_view part) {
  return text.starts_with(part) || (part.ends_with(' ') && text == part.substr(0, part.size() - 1));
}

bool matches(std::string_view name, std::size_t start, std::string_view pattern) {
  bool anchored = pattern.starts_with('^');
  if (anchored) pattern.remove_prefix(1);
  std::size_t at = anchored ? start : 0;
  while (true) {
    std::size_t star = pattern.find('*');
    std::string_view part = pattern.substr(0, star);
    if (anchored) {
      if (!begins_with(name.substr(at), part)) return false;
      anchored = false;
    } else {
      at = name.find(part, at);
      if (at == std::string_view::npos) return false;
    }
    if (star == std::string_view::npos) return true;
    at = std::min(at + part.size(), name.size());
    pattern.remove_prefix(star + 1);
  }
}

template <class Row>
const Row* first_match(std::span<const Row> rows, std::string_view name, std::size_t start) {
  auto row = std::find_if(rows.begin(), rows.end(),
                          [&](const Row& r) { return matches(name, start, r.pattern); });
  return row == rows.end() ? nullptr : &*row;
}

/// cuBLAS since Hopper: nvjet_[smNNN_]<types>_… with a letter for each of A (B where it differs),
/// the accumulator, C and D: t bfloat16, h half, s single (TF32 on matrix cores), d double, q and r
/// the two FP8 types, o FP4, i integer. Inferred from kernels whose framework op was known.
Precision nvjet_precision(std::string_view name) {
  std::string_view rest = name.substr(name.find("nvjet_") + 6);
  if (rest.starts_with("sm")) {
    std::size_t end = rest.find('_');
    if (end == std::string_view::npos) return Precision::kUnknown;
    rest.remove_prefix(end + 1);
  }
  switch (rest.empty() ? '\0' : rest.front()) {
    case 't':
      return Precision::kBf16;
    case 'h':
      return Precision::kFp16;
    case 's':
      return Precision::kTf32;
    case 'd':
      return Precision::kFp64;
    case 'q':
    case 'r':
      return Precision::kFp8;
    case 'o':
      return Precision::kFp4;
    case 'i':
      return Precision::kInt8;
    default:
      return Precision::kUnknown;
  }
}

/// Tensile: Cijk_<indices of A>_<indices of B>_<types>_…; the first letter of the types is the
/// input type. MI<m>x<n> names the matrix instruction; without it ("_MT…" alone) it is plain FMA.
void classify_tensile(std::string_view name, KernelTraits& traits) {
  std::size_t at = name.find("cijk_");
  for (int field = 0; field < 3 && at != std::string_view::npos; ++field) {
    at = name.find('_', at);
    if (at != std::string_view::npos) ++at;
  }
  std::string_view types =
      at == std::string_view::npos ? "" : name.substr(at, name.find('_', at) - at);
  using enum Precision;
  if (types.starts_with("f8") || types.starts_with("b8")) {
    traits.precision = kFp8;
  } else if (types.starts_with("b")) {
    traits.precision = kBf16;
  } else if (types.starts_with("h")) {
    traits.precision = kFp16;
  } else if (types.starts_with("x")) {
    traits.precision = kTf32;
  } else if (types.starts_with("s")) {
    traits.precision = kFp32;
  } else if (types.starts_with("d")) {
    traits.precision = kFp64;
  } else if (types.starts_with("i8") || types.starts_with("4xi8")) {
    traits.precision = kInt8;
  }
  bool mfma = name.find("_mi16x") != std::string_view::npos ||
              name.find("_mi32x") != std::string_view::npos ||
              name.find("_mi4x") != std::string_view::npos;
  traits.math_unit = mfma ? trace::MathUnit::kTensor : trace::MathUnit::kGeneral;
}

struct FamilyText {
  std::string_view id;
  std::string_view label;
};
constexpr std::array<FamilyText, kKernelFamilies> kTexts = {{
    {"unknown", "unclassified kernels"},
    {"gemm", "GEMMs"},
    {"convolution", "convolutions"},
    {"attention", "fused attention"},
    {"normalisation", "normalisation"},
    {"elementwise", "elementwise kernels"},
    {"activation", "activations"},
    {"reduction", "reductions"},
    {"softmax", "softmax"},
    {"loss", "losses"},
    {"cast", "casts"},
    {"layout_transform", "layout transforms"},
    {"gather_scatter", "gathers and scatters"},
    {"embedding", "embeddings"},
    {"optimizer", "optimizer kernels"},
    {"recurrent", "recurrent kernels"},
    {"pooling", "pooling"},
    {"sort", "sorts"},
    {"random", "random numbers"},
    {"fill_copy", "fills and copies"},
    {"fused", "compiler-fused kernels"},
    {"communication", "communication"},
    {"delay", "delays"},
}};

}  // namespace

KernelTraits classify_kernel(std::string_view original) {
  KernelTraits traits;
  std::string name = lower(original);
  std::size_t start = function_start(name);
  if (const FamilyRow* row = first_match(family_rows(), name, start)) traits.family = row->family;
  if (const ArchitectureRow* row = first_match(architecture_rows(), name, start))
    traits.architecture = row->architecture;
  traits.framework = name.find("at::native") != std::string::npos;
  if (traits.family == KernelFamily::kUnknown) return traits;
  if (const PrecisionRow* row = first_match(precision_rows(), name, start))
    traits.precision = row->precision;
  if (is_matrix_work(traits.family)) {
    if (name.find("nvjet_") != std::string::npos) {
      traits.math_unit = trace::MathUnit::kTensor;
      traits.precision = nvjet_precision(name);
    } else if (name.find("cijk_") != std::string::npos) {
      classify_tensile(name, traits);
    } else if (const MathRow* row = first_match(math_rows(), name, start)) {
      traits.math_unit = row->unit;
      if (row->precision != Precision::kUnknown) traits.precision = row->precision;
    }
  }
  // A copy may prepare an operand of a convolution.
  if (traits.family == KernelFamily::kConvolution || traits.family == KernelFamily::kFillCopy) {
    if (const PassRow* row = first_match(pass_rows(), name, start)) {
      traits.pass = row->pass;
      traits.strided = row->strided;
    }
  }
  if (traits.family == KernelFamily::kRecurrent)
    traits.persistent = name.find("persist") != std::string::npos;
  return traits;
}

std::string_view family_id(KernelFamily family) {
  return kTexts[static_cast<std::size_t>(family)].id;
}

std::string_view family_label(KernelFamily family) {
  return kTexts[static_cast<std::size_t>(family)].label;
}

std::string_view precision_label(Precision precision) {
  static constexpr std::array<std::string_view, 9> kLabels = {
      "", "FP64", "FP32", "TF32", "FP16", "BF16", "FP8", "INT8", "FP4"};
  return kLabels[static_cast<std::size_t>(precision)];
}

bool is_fusible(KernelFamily family) {
  switch (family) {
    case KernelFamily::kNormalisation:
    case KernelFamily::kElementwise:
    case KernelFamily::kActivation:
    case KernelFamily::kReduction:
    case KernelFamily::kSoftmax:
    case KernelFamily::kCast:
    case KernelFamily::kLayoutTransform:
    case KernelFamily::kFillCopy:
      return true;
    default:
      return false;
  }
}

bool moves_data(KernelFamily family) {
  return family == KernelFamily::kLayoutTransform || family == KernelFamily::kCast ||
         family == KernelFamily::kFillCopy;
}

bool reduces(KernelFamily family) {
  return family == KernelFamily::kNormalisation || family == KernelFamily::kSoftmax ||
         family == KernelFamily::kReduction;
}

bool can_fuse(const KernelTraits& traits) {
  return is_fusible(traits.family) && (traits.framework || !moves_data(traits.family));
}

bool is_matrix_work(KernelFamily family) {
  return family == KernelFamily::kGemm || family == KernelFamily::kConvolution ||
         family == KernelFamily::kAttention || family == KernelFamily::kRecurrent;
}

KernelNames::KernelNames(const trace::Trace& trace)
    : trace_(trace), index_(trace.strings.size(), 0), traits_(1) {
  const trace::DeviceOps& ops = trace.device_ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] != trace::DeviceOpKind::kKernel &&
        ops.kind[i] != trace::DeviceOpKind::kCommunication)
      continue;
    std::uint32_t& index = index_[ops.name[i].value];
    if (index != 0) continue;
    index = static_cast<std::uint32_t>(traits_.size());
    traits_.push_back(classify_kernel(trace.strings[ops.name[i]]));
  }
}

const KernelTraits& KernelNames::of(trace::StringId name) const {
  return traits_[name.value < index_.size() ? index_[name.value] : 0];
}

KernelTraits KernelNames::of(trace::DeviceOpId op) const {
  const trace::DeviceOps& ops = trace_.device_ops;
  trace::DeviceOpKind kind = ops.kind[op.value];
  if (kind != trace::DeviceOpKind::kKernel && kind != trace::DeviceOpKind::kCommunication)
    return {};
  KernelTraits traits = of(ops.name[op.value]);
  if (kind == trace::DeviceOpKind::kCommunication) traits.family = KernelFamily::kCommunication;
  if (ops.math_unit[op.value] != trace::MathUnit::kUnknown)
    traits.math_unit = ops.math_unit[op.value];
  return traits;
}

}  // namespace headway::analyzer
