// SPDX-License-Identifier: MIT
#include <charconv>

#include "analyzer/whatif/whatif.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

constexpr double kMostFactor = 1000;

double factor_of(std::string_view all, std::string_view text) {
  double factor = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc{} || end != text.data() + text.size() || !(factor >= 0) ||
      factor > kMostFactor)
    fail_usage("--scale {}: '{}' is not a factor between 0 and {}.", escape_terminal(all),
               escape_terminal(text), kMostFactor);
  return factor;
}

std::string class_list() {
  std::string list;
  for (const TimeClassInfo& one : time_classes())
    list += (list.empty() ? "" : ", ") + std::string(one.id);
  return list;
}

}  // namespace

Scenario parse_scaling(const Predictor& predictor, std::string_view text) {
  const std::size_t equals = text.rfind('=');
  const std::size_t colon = text.find(':');
  if (equals == std::string_view::npos || equals == 0)
    fail_usage(
        "--scale {}: expected WHAT=FACTOR, e.g. comm_transfer=0.5, op:conv1=0.9, kernel:*gemm*=0.5 "
        "or call:cudaMalloc=0.",
        escape_terminal(text));
  const double factor = factor_of(text, text.substr(equals + 1));
  std::string_view kind = colon < equals ? text.substr(0, colon) : "class";
  std::string_view pattern =
      colon < equals ? text.substr(colon + 1, equals - colon - 1) : text.substr(0, equals);
  const trace::Trace& trace = predictor.trace();
  const Attribution& attribution = predictor.analysis().attribution;
  auto fits = [&](const Part& part) {
    if (part.kind == Part::Kind::kFixed) return false;
    if (kind == "class") return info(part.time_class).id == pattern;
    if (kind == "op")
      return part.kind == Part::Kind::kDevice &&
             glob_match(pattern, attribution.ops[part.op.value].name);
    if (kind == "kernel")
      return part.kind == Part::Kind::kDevice && glob_match(pattern, trace.strings[part.name]);
    if (kind == "call")
      return part.kind == Part::Kind::kCall && glob_match(pattern, trace.strings[part.name]);
    if (kind == "range")
      return part.kind == Part::Kind::kHost && glob_match(pattern, trace.strings[part.name]);
    fail_usage("--scale {}: '{}' is none of class, op, kernel, call and range.",
               escape_terminal(text), escape_terminal(kind));
  };
  Scenario scenario;
  bool any = false;
  for (std::size_t part = 0; part < predictor.parts().size(); ++part) {
    if (!fits(predictor.parts()[part])) continue;
    scenario.scale(PartId::from(part), factor);
    any = true;
  }
  if (any) return scenario;
  if (kind == "class")
    fail_usage("--scale {}: this trace has no class '{}'. Classes: {}.", escape_terminal(text),
               escape_terminal(pattern), class_list());
  fail_usage("--scale {}: no {} in this trace matches '{}'. `headway stats` lists the names.",
             escape_terminal(text), kind, escape_terminal(pattern));
}

}  // namespace headway::analyzer
