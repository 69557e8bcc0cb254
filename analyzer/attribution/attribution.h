// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace headway::analyzer {

using OpId = Id<struct OpTag>;  ///< an op of the model as the report lists it

/// An op of the model: a node of the op graph where the trace has one, else a range name.
struct ModelOp {
  std::string name;  ///< "layer1.0.bn1"
  std::string type;  ///< "batch_norm"; empty when unknown
  trace::Phase phase = trace::Phase::kNone;
  trace::GraphOpId graph_op;  ///< none when it is known by range name only
};

/// Which op of the model each device op belongs to, and through which range and call it got there.
struct Attribution {
  std::vector<ModelOp> ops;  ///< ops[0] is "(unattributed)"
  std::vector<OpId> op_of;   ///< per device op
  std::vector<trace::RangeId>
      range_of;  ///< per device op: innermost range open on the launching thread; may be none
  std::vector<trace::Phase>
      phase_of;  ///< per device op: own tag, else that of the enclosing ranges
};

Attribution attribute(const trace::Trace& trace);

/// The innermost range that is open on `thread` at `t`; none when there is none. O(log n) per call.
trace::RangeId innermost_range(const trace::Trace& trace, trace::ThreadId thread, TimeNs t);

}  // namespace headway::analyzer
