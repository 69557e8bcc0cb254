// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/between_cause.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Who wrote a range, by its domain: a framework's profiler has one domain for each kind of row.
enum class RangeSource : std::uint8_t {
  kNvtx,        ///< the program or a library, through NVTX
  kAnnotation,  ///< the program or the framework, through the framework's profiler
  kOperator,    ///< an operator of the framework: "aten::addmm"
  kPython,      ///< a Python function
  kDevice,      ///< an echo of an annotation on a device, or the profiler's own: not for analyses
};
RangeSource source_of_domain(std::string_view domain);

/// True for names that mean a training step: "step", "ProfilerStep#7", "train_iteration 3".
bool means_step(std::string_view name);
/// True for names that loaders are known to wait under (PyTorch's DataLoader iterators,
/// TensorFlow's IteratorGetNext).
bool means_input_wait(std::string_view name);
/// The phase of the step that a name tells ("Optimizer.step#SGD.step", "ConvolutionBackward0", "##
/// forward ##"); kNone when it tells none.
trace::Phase phase_of_name(std::string_view name);
/// What a program does between its steps, as the name of a range tells ("evaluate", "save_checkpoint");
/// kOther when it tells nothing.
BetweenCause between_cause_of_name(std::string_view name);
/// True for names that mean such work wherever they are: "torch.save", "garbage collection".
bool never_belongs_to_a_step(std::string_view name);
/// "conv2d, seq = 7, op_id = 9" -> "conv2d": the same op with another number is the same op.
std::string_view without_numbering(std::string_view name);

/// What the name of a range says.
struct NameFacts {
  std::uint32_t base = 0;  ///< same for names that differ only in numbering; see RangeNames::base()
  std::int64_t sequence = conventions::kAbsent;  ///< autograd's number, when the name has it
  trace::Phase phase = trace::Phase::kNone;
  BetweenCause between = BetweenCause::kOther;  ///< outside of steps, or where it is rare
  bool never_a_step = false;  ///< `between` holds wherever the range is: it is never work of a step
  bool step = false;
  bool input_wait = false;
  bool communication = false;
  bool allocation = false;  ///< of memory, by the framework
  bool pause = false;       ///< garbage collection or a lock: the thread does nothing for the step
  bool module = false;      ///< is or holds a path of a module: see RangeNames::module()
  bool module_part =
      false;  ///< the module is relative to the enclosing one ("nn.Module: Conv2d_3")
};

/// Facts about the names of ranges, each found once per distinct name: traces have millions of
/// ranges and thousands of names. Immutable, so thread-safe.
class RangeNames {
 public:
  explicit RangeNames(const trace::Trace& trace);

  const NameFacts& operator[](trace::RangeId range) const {
    return facts_[index_[trace_.ranges.name[range.value].value]];
  }
  RangeSource source(trace::RangeId range) const {
    return sources_[trace_.ranges.domain[range.value].value];
  }
  /// The name without numbering.
  std::string_view base(std::uint32_t base) const { return bases_[base]; }
  std::size_t base_count() const { return bases_.size(); }
  /// The module's path or part of it that the name holds; only for facts with `module`.
  static std::string_view module(std::string_view name);

 private:
  const trace::Trace& trace_;
  std::vector<std::uint32_t> index_;  ///< by StringId: into facts_
  std::vector<NameFacts> facts_;
  std::vector<std::string_view> bases_;
  std::vector<RangeSource> sources_;  ///< by domain
};

}  // namespace headway::analyzer
