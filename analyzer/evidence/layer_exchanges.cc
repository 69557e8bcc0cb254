// SPDX-License-Identifier: MIT
#include "analyzer/evidence/layer_exchanges.h"

#include <map>
#include <string_view>
#include <vector>

#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Least share of the steady steps that have a message in the forward pass.
constexpr double kMost = 0.5;

bool sums(std::string_view kind) {
  return kind == "allreduce" || kind == "reducescatter";
}

using Message = std::pair<std::string, std::int64_t>;

/// Finds the sums of one step's forward pass. Ops are added in order of time.
class ForwardSums {
 public:
  void add(const Message& message, TimeNs end) {
    if (computed_ && !backward_) waiting_.push_back({message, end});
  }
  void compute(Phase phase, TimeNs begin, bool inference) {
    if (phase == Phase::kBackward) backward_ = true;
    if (phase != Phase::kForward && !inference) return waiting_.clear();
    computed_ = true;
    for (const auto& [message, end] : waiting_)
      if (end <= begin) found_.insert(message);  // else compute did not wait for it
    waiting_.clear();
  }
  const std::set<Message>& found() const { return found_; }

 private:
  bool computed_ = false;
  bool backward_ = false;
  std::vector<std::pair<Message, TimeNs>> waiting_;
  std::set<Message> found_;
};

}  // namespace

bool LayerExchanges::contains(const Trace& trace, const Collective& collective) const {
  if (empty()) return false;
  const std::string_view kind = trace.strings[collective.kind];
  return (sums(kind) || kind == "allgather") &&
         messages.contains({std::string(trace.strings[collective.communicator]), collective.bytes});
}

std::set<DeviceOpId> LayerExchanges::ops(const Trace& trace) const {
  std::set<DeviceOpId> result;
  for (const Collective& one : trace.collectives)
    if (one.op.valid() && contains(trace, one)) result.insert(one.op);
  return result;
}

LayerExchanges find_layer_exchanges(const RuleContext& context) {
  const Trace& trace = context.trace;
  std::map<DeviceOpId, Message> sum_of;
  for (const Collective& one : trace.collectives)
    if (one.op.valid() && one.bytes > 0 && sums(trace.strings[one.kind]))
      sum_of[one.op] = {std::string(trace.strings[one.communicator]), one.bytes};
  LayerExchanges result;
  if (sum_of.empty()) return result;
  const bool inference = context.program.is_inference();
  std::map<Message, std::int64_t> steps_with;
  std::int64_t steps = 0;
  for (const DevicePartition& device : context.partitions) {
    if (!device.device.valid()) continue;
    const DeviceStep* current = nullptr;
    ForwardSums forward;
    auto close = [&] {
      for (const Message& message : forward.found()) ++steps_with[message];
      forward = {};
    };
    steps += for_each_steady_op(
        trace, context.steps, device, [&](const DeviceStep& step, DeviceOpId op) {
          if (&step != current) close();
          current = &step;
          const Interval time = trace.device_ops.interval(op);
          if (const auto sum = sum_of.find(op); sum != sum_of.end())
            return forward.add(sum->second, time.end);
          const TimeClass its = context.attribution.class_of[op.value];
          if (its == TimeClass::kComputeTensor || its == TimeClass::kComputeOther)
            forward.compute(context.attribution.phase_of[op.value], time.begin, inference);
        });
    close();
  }
  for (const auto& [message, count] : steps_with)
    if (static_cast<double>(count) >= kMost * static_cast<double>(steps))
      result.messages.insert(message);
  return result;
}

}  // namespace headway::analyzer
