// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "trace/trace.h"

namespace headway::gui {

/// What a line of the table stands for.
enum class OpGrouping : std::uint8_t { kOp, kType, kKernel };

/// A line of the op table: all device ops of one op of the model, of one type of op, or of one
/// name.
struct OpLine {
  std::string name;
  std::string type;
  std::string phase;
  std::int64_t count = 0;  ///< device ops
  DurationNs total = {};   ///< their durations added up
  DurationNs longest_duration = {};
  trace::DeviceOpId longest = {};
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
};

/// Columns in the order in which they are shown, declared once.
enum class OpColumn : std::uint8_t {
  kName,
  kType,
  kPhase,
  kTimePerStep,
  kShare,
  kCountPerStep,
  kMean,
  kLongest,
  kBandwidth,
  kFlops,
};
struct OpColumnInfo {
  OpColumn column;
  std::string_view title;
  std::string_view doc;
  bool numeric;
};
std::span<const OpColumnInfo> op_columns();

/// Device time by op: over the steady steps, per step and device, where there are any; else over
/// the whole trace.
struct OpTable {
  OpGrouping grouping = OpGrouping::kOp;
  std::vector<OpLine> lines;  ///< longest total first
  std::int64_t steps = 0;     ///< steps times devices that the figures are over; 0: whole trace
  DurationNs total;           ///< of all lines
  std::string basis;          ///< a sentence: what the figures are over

  double per_step(double value) const { return steps ? value / static_cast<double>(steps) : value; }
  /// The text of a cell, fit to be shown.
  std::string text(const OpLine& line, OpColumn column) const;
  /// Lines whose name, type or phase contains `filter` (either case), sorted by a column; ties keep
  /// the table's order. Indexes into `lines`.
  std::vector<std::uint32_t> arranged(OpColumn column, bool descending,
                                      std::string_view filter) const;
};

OpTable make_op_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                      OpGrouping grouping);

}  // namespace headway::gui
