// SPDX-License-Identifier: MIT
#include "analyzer/steps/range_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_map>

#include "analyzer/kernels/communication.h"
#include "common/step_name.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::string_view kModulePrefix = "nn.Module: ";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// "layer1.0.conv1": words joined by dots, as modules are named; not a number and no file name.
bool is_module_path(std::string_view text) {
  if (text.size() < 3 || !std::isalpha(static_cast<unsigned char>(text.front()))) return false;
  bool dot = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      if (i == 0 || i + 1 == text.size() || text[i - 1] == '.') return false;
      dot = true;
    } else if (!is_word(text[i])) {
      return false;
    }
  }
  return dot && !text.ends_with(".py") && !text.starts_with("Optimizer.") &&
         !text.starts_with("DistributedDataParallel.") && !text.starts_with("torch.");
}

std::int64_t number_after(std::string_view name, std::string_view mark) {
  std::size_t at = name.find(mark);
  std::int64_t number = conventions::kAbsent;
  if (at != std::string_view::npos)
    std::from_chars(name.data() + at + mark.size(), name.data() + name.size(), number);
  return number;
}

}  // namespace

RangeSource source_of_domain(std::string_view domain) {
  if (domain == "cpu_op") return RangeSource::kOperator;
  if (domain == "user_annotation") return RangeSource::kAnnotation;
  if (domain == "python_function") return RangeSource::kPython;
  // "Trace" is the profiler's own span over the whole recording.
  if (domain == "gpu_user_annotation" || domain == "Trace") return RangeSource::kDevice;
  return RangeSource::kNvtx;
}

bool means_step(std::string_view name) {
  return headway::means_step(name);
}

bool means_input_wait(std::string_view name) {
  return (contains(name, "DataLoader") && contains(name, "__next__")) ||
         name == "IteratorGetNext" || contains(name, "Iterator::Prefetch::Wait");
}

Phase phase_of_name(std::string_view name) {
  // Clearing gradients is the optimizer's call, but not the update; it may come at the step's start.
  if (contains(name, "zero_grad")) return Phase::kNone;
  if (contains(name, "Optimizer.") || contains(name, "optimizer") || contains(name, "optim_step"))
    return Phase::kUpdate;
  if (contains(name, "Backward") || contains(name, "backward") ||
      contains(name, "autograd::engine") || contains(name, "AccumulateGrad"))
    return Phase::kBackward;
  if (contains(name, "forward")) return Phase::kForward;
  return Phase::kNone;
}

std::string_view without_numbering(std::string_view name) {
  for (std::string_view mark : {", op_id", ", seq", ", sizes", ", input_op_ids"}) {
    std::size_t at = name.find(mark);
    if (at != std::string_view::npos) name = name.substr(0, at);
  }
  return name;
}

std::string_view RangeNames::module(std::string_view name) {
  if (name.starts_with(kModulePrefix)) return name.substr(kModulePrefix.size());
  name = without_numbering(name);
  // "FSDP::pre_forward (encoder.block.0)": the module it works for.
  std::size_t open = name.rfind('(');
  if (open != std::string_view::npos && name.ends_with(')'))
    name = name.substr(open + 1, name.size() - open - 2);
  return is_module_path(name) ? name : std::string_view{};
}

RangeNames::RangeNames(const Trace& trace)
    : trace_(trace), index_(trace.strings.size(), UINT32_MAX) {
  for (const std::string& domain : trace.domains) sources_.push_back(source_of_domain(domain));
  if (sources_.empty()) sources_.push_back(RangeSource::kNvtx);
  std::unordered_map<std::string_view, std::uint32_t> base_of;
  for (StringId id : trace.ranges.name) {
    if (id.value >= index_.size()) index_.resize(id.value + std::size_t{1}, UINT32_MAX);
    if (index_[id.value] != UINT32_MAX) continue;
    index_[id.value] = static_cast<std::uint32_t>(facts_.size());
    std::string_view name = trace.strings[id];
    std::string_view base = without_numbering(name);
    NameFacts facts;
    auto [slot, is_new] = base_of.try_emplace(base, static_cast<std::uint32_t>(bases_.size()));
    if (is_new) bases_.push_back(base);
    facts.base = slot->second;
    if (base.size() != name.size()) facts.sequence = number_after(name, "seq = ");
    facts.phase = phase_of_name(base);
    facts.between = between_cause_of_name(base);
    facts.never_a_step = never_belongs_to_a_step(base);
    facts.step = means_step(name);
    facts.input_wait = means_input_wait(base);
    facts.communication = names_communication_call(base);
    facts.allocation = base.starts_with("aten::empty") || base.starts_with("aten::resize_");
    facts.pause = contains(base, "gc.collect") || contains(base, "built-in function collect") ||
                  contains(base, "_thread.lock") || contains(base, "threading.py");
    facts.module_part = name.starts_with(kModulePrefix);
    facts.module = !module(name).empty();
    facts_.push_back(facts);
  }
}

}  // namespace headway::analyzer
