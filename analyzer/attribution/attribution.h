// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/attribution/range_contexts.h"
#include "analyzer/kernels/communication.h"
#include "analyzer/kernels/families.h"
#include "analyzer/model/time_class.h"
#include "trace/trace.h"

namespace headway::analyzer {

using OpId = Id<struct OpTag>;  ///< an op of the model as the report lists it

/// An op of the model: a node of the op graph where the trace has one, else a range name.
struct ModelOp {
  std::string name;  ///< "layer1.0.bn1", "aten::native_batch_norm"
  std::string type;  ///< "batch_norm"; empty when unknown
  trace::Phase phase = trace::Phase::kNone;
  trace::GraphOpId graph_op;  ///< none when it is known by range name only
  std::string
      module;  ///< path of the module it belongs to, for backward ops that of their forward op:
               ///< "ResNet_0/Bottleneck_3/Conv2d_1", "layer1.0.conv1"; empty when unknown
};

/// Which op of the model each device op belongs to, and through which range and call it got there.
struct Attribution {
  std::vector<ModelOp> ops;  ///< ops[0] is "(unattributed)"
  std::vector<OpId> op_of;   ///< per device op
  std::vector<trace::RangeId>
      range_of;  ///< per device op: innermost range open on the launching thread; may be none
  std::vector<trace::Phase>
      phase_of;                     ///< per device op: own tag, else that of the enclosing ranges
  std::vector<TimeClass> class_of;  ///< per device op: its class on its own
  std::vector<RangeContext> contexts;  ///< per range; see RangeContext
};

/// Linear in the trace's events, plus O(log n) per op with an autograd number.
Attribution attribute(const trace::Trace& trace);
/// The same for callers that already have these facts.
Attribution attribute(const trace::Trace& trace, const RangeNames& names,
                      const KernelNames& kernels, const CommunicationOps& communication);

/// The innermost range that is open on `thread` at `t`; none when there is none. O(log n) per call.
trace::RangeId innermost_range(const trace::Trace& trace, trace::ThreadId thread, TimeNs t);

}  // namespace headway::analyzer
