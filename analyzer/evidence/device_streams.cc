// SPDX-License-Identifier: MIT
#include "analyzer/evidence/device_streams.h"

#include "common/text.h"

namespace headway::analyzer {

DeviceLimits limits_of(const RuleContext& context, const DevicePartition& device) {
  if (!device.device.valid()) return {};  // of a host thread
  std::size_t index = static_cast<std::size_t>(&device - context.partitions.data());
  return limits_of(context.trace.devices[device.device.value], context.work[index].architecture);
}

std::string short_name(const RuleContext& context, trace::DeviceOpId op) {
  constexpr std::size_t kColumns = 72;
  return shorten(context.trace.strings[context.trace.device_ops.name[op.value]], kColumns);
}

void LongestEvidence::add(Interval where, trace::DeviceOpId op, std::string note) {
  auto at = std::find_if(kept_.begin(), kept_.end(), [&](const Evidence& other) {
    return other.where.length() < where.length() ||
           (other.where.length() == where.length() && where.begin < other.where.begin);
  });
  kept_.insert(at, Evidence{where, EventRef::of(op), std::move(note)});
  if (kept_.size() > limit_) kept_.pop_back();
}

}  // namespace headway::analyzer
