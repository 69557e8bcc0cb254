// SPDX-License-Identifier: MIT
#include "analyzer/attribution/range_contexts.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::uint64_t kAbsolute = std::uint64_t{UINT32_MAX} << 32;

int weight(RangeSource source) {
  switch (source) {
    case RangeSource::kOperator:
    case RangeSource::kNvtx:
      return 3;
    case RangeSource::kAnnotation:
      return 2;
    case RangeSource::kPython:
      return 1;
    case RangeSource::kDevice:
      return 0;
  }
  return 0;
}

/// The module of the forward op of each autograd number. Of several ops with one number the last
/// made the node of the graph, so later ones replace earlier ones.
class ForwardModules {
 public:
  void set(ProcessId process, std::int64_t sequence, std::uint32_t module) {
    of_process(process)[sequence] = module;
  }
  std::uint32_t get(ProcessId process, std::int64_t sequence) {
    auto& of = of_process(process);
    auto found = of.find(sequence);
    return found == of.end() ? 0 : found->second;
  }

 private:
  // Not a table by number: numbers of long runs are in the billions, and those that readers assign to
  // flows may have any value.
  std::unordered_map<std::int64_t, std::uint32_t>& of_process(ProcessId process) {
    if (process.value >= modules_.size()) modules_.resize(process.value + std::size_t{1});
    return modules_[process.value];
  }
  std::vector<std::unordered_map<std::int64_t, std::uint32_t>> modules_;
};

/// What lies outside decides whether work is for the update or the backward pass: recomputed forward
/// ops inside a backward pass are backward work.
Phase joined(Phase outer, Phase own) {
  bool outer_decides = outer == Phase::kUpdate || outer == Phase::kBackward ||
                       outer == Phase::kEvaluation || outer == Phase::kCommunication;
  return outer_decides || own == Phase::kNone ? outer : own;
}

}  // namespace

std::uint32_t ModulePaths::add(std::uint64_t key, std::string path) {
  auto [slot, is_new] = by_path_.try_emplace(path, static_cast<std::uint32_t>(paths_.size()));
  if (is_new) paths_.push_back(std::move(path));
  index_[key] = slot->second;
  return slot->second;
}

std::uint32_t ModulePaths::child(std::uint32_t parent, StringId name, std::string_view part) {
  std::uint64_t key = std::uint64_t{parent} << 32 | name.value;
  auto found = index_.find(key);
  if (found != index_.end()) return found->second;
  std::string path = paths_[parent];
  // "layer1.0" inside "layer1" is qualified already: it replaces the enclosing "layer1".
  std::size_t slash = path.rfind('/');
  std::size_t last = slash == std::string::npos ? 0 : slash + 1;
  std::string_view enclosing = std::string_view(path).substr(last);
  bool qualified = !enclosing.empty() && part.size() > enclosing.size() &&
                   part.starts_with(enclosing) && part[enclosing.size()] == '.';
  if (qualified) {
    path.resize(last);
  } else if (!path.empty()) {
    path += '/';
  }
  return add(key, path + std::string(part));
}

std::uint32_t ModulePaths::absolute(StringId name, std::string_view path) {
  std::uint64_t key = kAbsolute | name.value;
  auto found = index_.find(key);
  return found != index_.end() ? found->second : add(key, std::string(path));
}

std::vector<RangeContext> range_contexts(const Trace& trace, const RangeNames& names,
                                         ModulePaths& modules) {
  const Ranges& ranges = trace.ranges;
  std::vector<RangeContext> contexts(ranges.size());
  ForwardModules forward;
  std::vector<std::uint32_t> path_of_name(trace.strings.size(), UINT32_MAX);
  auto absolute = [&](StringId name) {
    std::uint32_t& path = path_of_name[name.value];
    if (path == UINT32_MAX) path = modules.absolute(name, RangeNames::module(trace.strings[name]));
    return path;
  };
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    RangeId id{i};
    RangeSource source = names.source(id);
    if (source == RangeSource::kDevice) continue;
    RangeId parent = ranges.parent[i];
    RangeContext context =
        parent.valid() && parent.value < i ? contexts[parent.value] : RangeContext{};
    const NameFacts& name = names[id];
    const trace::RangeInfo* info = trace.info(id);
    context.phase =
        info && info->phase != Phase::kNone ? info->phase : joined(context.phase, name.phase);
    context.input_wait |= name.input_wait || (info && info->kind == RangeKind::kInputWait);
    context.communication |= name.communication;
    bool step = name.step || (info && info->kind == RangeKind::kStep);
    if (!step && weight(source) >= weight(context.op_source)) {
      context.op = id;
      context.op_source = source;
    }
    if (name.module) {
      StringId text = ranges.name[i];
      context.module = name.module_part ? modules.child(context.module, text,
                                                        RangeNames::module(trace.strings[text]))
                                        : absolute(text);
    }
    std::int64_t sequence = info && info->sequence >= 0 ? info->sequence : name.sequence;
    if (sequence >= 0) {
      ProcessId process = trace.threads[ranges.thread[i].value].process;
      if (context.phase == Phase::kBackward) {
        if (context.module == 0) context.module = forward.get(process, sequence);
      } else if (context.module != 0) {
        forward.set(process, sequence, context.module);
      }
    }
    contexts[i] = context;
  }
  return contexts;
}

}  // namespace headway::analyzer
