// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "gui/models/tables/linked_table.h"
#include "trace/trace.h"

namespace headway::gui {

/// What one line of the table combines.
enum class OpGrouping : std::uint8_t { kOp, kType, kKernel };

/// A line of the op table: all device ops of one op of the model, of one op type, or of one kernel
/// name.
struct OpLine {
  std::string name;
  std::string type;
  std::string phase;
  std::string module = {};  ///< the module of the op, where known
  std::string key = {};     ///< distinguishes lines of the same name
  std::int64_t count = 0;   ///< device ops
  DurationNs total = {};    ///< their durations added up
  DurationNs longest_duration = {};
  trace::DeviceOpId longest = {};
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
};

/// Device time by op: over the steady steps, per step and device; over the whole trace if there are
/// no steady steps.
struct OpTable {
  OpGrouping grouping = OpGrouping::kOp;
  std::vector<OpLine> lines;  ///< longest total first
  std::int64_t steps = 0;     ///< steps times devices behind the figures; 0: whole trace
  DurationNs total;           ///< of all lines
  std::string basis;          ///< a sentence: what the figures are over
};

OpTable make_op_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                      OpGrouping grouping);
/// The key of the line that a device op belongs to.
std::string op_key(const trace::Trace& trace, const analyzer::Analysis& analysis,
                   OpGrouping grouping, trace::DeviceOpId op);
/// The table for a page: lines link to their longest device op; keys as in op_key().
LinkedTable linked_table(const OpTable& table);

}  // namespace headway::gui
