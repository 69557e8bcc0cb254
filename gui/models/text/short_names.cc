// SPDX-License-Identifier: MIT
#include "gui/models/text/short_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace headway::gui {
namespace {

/// Limit of the parsed length: signatures differ near their beginning.
constexpr std::size_t kMostCharacters = 4000;

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
}

/// The function name of a signature with its template arguments, without the return type and the
/// parameters.
std::string_view function_of(std::string_view text) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' && depth == 0) return text.substr(begin, i - begin);
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return text.substr(begin);
}

std::vector<std::string_view> identifiers(std::string_view text) {
  std::vector<std::string_view> result;
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i && !std::isdigit(static_cast<unsigned char>(text[i])))
      result.push_back(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return result;
}

bool drop_end(std::string_view& word, std::string_view end) {
  if (!word.ends_with(end) || word.size() == end.size()) return false;
  word.remove_suffix(end.size());
  return true;
}

/// The operation in the template arguments of a PyTorch kernel: "add" of `CUDAFunctor_add<float>`.
/// Empty: none is recognised.
std::string_view operation_of(std::string_view arguments) {
  constexpr auto kWrappers =
      std::to_array<std::string_view>({"gpu_kernel_impl", "gpu_kernel_impl_nocast", "AUnaryFunctor",
                                       "BUnaryFunctor", "BinaryFunctor"});
  for (std::string_view word : identifiers(arguments)) {
    if (std::find(kWrappers.begin(), kWrappers.end(), word) != kWrappers.end()) continue;
    bool telling = false;
    for (std::string_view begin : {"CUDAFunctorOnSelf_", "CUDAFunctorOnOther_", "CUDAFunctor_"}) {
      if (!word.starts_with(begin)) continue;
      word.remove_prefix(begin.size());
      telling = true;
      break;
    }
    for (std::string_view end :
         {"_kernel_cuda", "_kernel_impl", "_functor", "Functor", "_kernel", "Ops"})
      if (drop_end(word, end)) telling = true;
    if (telling) return word;
  }
  return {};
}

/// The operation of a kernel from a matrix-product library, from the name of its tile.
std::string_view product_of(std::string_view arguments) {
  for (std::string_view kind :
       {"dgrad", "wgrad", "fprop", "fmha", "attention", "conv", "gemv", "gemm"})
    if (arguments.find(kind) != std::string_view::npos) return kind;
  return {};
}

}  // namespace

std::string short_name(std::string_view name) {
  const bool signature = name.starts_with("void ") ||
                         (name.ends_with(')') && (name.find('<') != std::string_view::npos ||
                                                  name.find("::") != std::string_view::npos));
  if (!signature) return std::string(name);
  std::string text(name.substr(0, kMostCharacters));
  for (std::string_view part : {"(anonymous namespace)::", "<unnamed>::"}) erase_all(text, part);
  const std::string_view function = function_of(text);
  const std::size_t open = std::min(function.find('<'), function.size());
  const std::string_view arguments = function.substr(open);
  std::string_view path = function.substr(0, open);
  const std::size_t last = path.rfind("::");
  std::string_view base = last == std::string_view::npos ? path : path.substr(last + 2);
  if (identifiers(base).size() != 1 || identifiers(base).front() != base) return std::string(name);
  const std::string_view first = path.substr(0, std::min(path.find("::"), path.size()));
  if (first == "cutlass") {
    if (const std::string_view kind = product_of(arguments); !kind.empty())
      return "cutlass::" + std::string(kind);
  }
  if (base.ends_with("elementwise_kernel") || base == "reduce_kernel" ||
      base == "multi_tensor_apply_kernel") {
    const std::string_view kind = base.ends_with("elementwise_kernel") ? "elementwise"
                                  : base == "reduce_kernel"            ? "reduce"
                                                                       : "multi-tensor";
    const std::string_view operation = operation_of(arguments);
    return operation.empty() ? std::string(kind) : std::string(operation) + " " + std::string(kind);
  }
  const bool says_nothing = base == "kernel" || base == "Kernel" || base == "globalKernel";
  if (says_nothing && last != std::string_view::npos) {
    const std::size_t before = path.rfind("::", last - 1);
    return std::string(before == std::string_view::npos ? path : path.substr(before + 2));
  }
  // The namespace is part of the short name for a library, but not for the internals of a
  // framework.
  if (first == "cub" || first == "thrust" || first == "cutlass" || first == "flash" ||
      first == "ck")
    return std::string(first) + "::" + std::string(base);
  return std::string(base);
}

}  // namespace headway::gui
