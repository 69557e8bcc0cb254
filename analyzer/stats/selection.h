// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer {

/// What a reader wants to see of a trace. Empty fields let everything through; several fields must
/// all hold.
struct Filter {
  std::optional<std::pair<std::int64_t, std::int64_t>> steps = {};  ///< numbers, both included
  std::vector<std::int32_t> ranks = {};
  std::string range = {};  ///< glob over range names: what happened inside such ranges
  std::string op = {};     ///< glob over op names: the work of such ops
  bool any() const { return steps || !ranks.empty() || !range.empty() || !op.empty(); }
};

/// "10:20", "10:", ":20" or "10". Throws Error(kUsage) for anything else.
std::pair<std::int64_t, std::int64_t> parse_steps(const std::string& text);

/// The rows of a trace that tables are over: all of them, or those a filter lets through. Filters
/// are applied here and nowhere else; tables ask for each row. One byte per event, made in one pass.
class Selection {
 public:
  Selection() = default;  ///< everything
  /// Throws Error(kUsage) with the legal names when a filter fits nothing.
  Selection(const trace::Trace& trace, const Analysis& analysis, const Filter& filter);

  bool has(trace::DeviceOpId id) const { return ops_.empty() || ops_[id.value] != 0; }
  bool has(trace::CallId id) const { return calls_.empty() || calls_[id.value] != 0; }
  bool has(trace::RangeId id) const { return ranges_.empty() || ranges_[id.value] != 0; }
  bool has(trace::DeviceId id) const {
    return devices_.empty() || !id.valid() || devices_[id.value] != 0;
  }
  bool has_step(std::uint32_t step) const { return steps_.empty() || steps_[step] != 0; }
  /// "Only steps 10 to 20, inside ranges 'forward'."; empty when everything is selected.
  const std::string& text() const { return text_; }

  bool keep_numbers = false;  ///< "step 7" and "step 8" stay apart

 private:
  void select_ops(const trace::Trace& trace, const Analysis& analysis, const Filter& filter,
                  const std::vector<std::uint8_t>& inside);
  void select_calls(const trace::Trace& trace, const Analysis& analysis, const Filter& filter,
                    const std::vector<std::uint8_t>& inside);
  void select_ranges(const trace::Trace& trace, const Analysis& analysis, const Filter& filter,
                     const std::vector<std::uint8_t>& inside);

  std::vector<std::uint8_t> ops_;
  std::vector<std::uint8_t> calls_;
  std::vector<std::uint8_t> ranges_;
  std::vector<std::uint8_t> devices_;
  std::vector<std::uint8_t> steps_;
  std::string text_;
};

/// The rank a device belongs to; 0 when that is not known.
std::int32_t rank_of(const trace::Trace& trace, trace::DeviceId device);

/// Calls `visit(op)` for every selected device op inside a counted, selected step of the device, in
/// order of time. Returns the number of such steps.
template <class Visit>
std::int64_t for_each_selected_op(const trace::Trace& trace, const Analysis& analysis,
                                  const DevicePartition& partition, const Selection& selection,
                                  Visit visit) {
  if (!selection.has(partition.device)) return 0;
  for_each_steady_op(trace, analysis.steps, partition,
                     [&](const DeviceStep& step, trace::DeviceOpId op) {
                       if (selection.has(op) && selection.has_step(step.step)) visit(op);
                     });
  return std::count_if(partition.steps.begin(), partition.steps.end(), [&](const DeviceStep& step) {
    return counts(analysis.steps, step) && selection.has_step(step.step);
  });
}

/// The mean of the counted and selected steps on a device: the base of shares of its step.
struct SelectedSteps {
  ClassTimes mean;  ///< per class, rounded towards zero
  std::int64_t count = 0;
};
SelectedSteps selected_steps(const Analysis& analysis, const DevicePartition& partition,
                             const Selection& selection);

}  // namespace headway::analyzer
