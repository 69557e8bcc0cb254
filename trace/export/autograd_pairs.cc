// SPDX-License-Identifier: MIT
#include "trace/export/autograd_pairs.h"

#include <map>

namespace headway::trace::export_detail {

std::vector<AutogradPair> autograd_pairs(const Trace& trace) {
  const Ranges& ranges = trace.ranges;
  std::map<std::int64_t, AutogradPair> pairs;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const RangeInfo* info = trace.info(RangeId{i});
    if (!info || info->sequence == conventions::kAbsent) continue;
    AutogradPair& pair = pairs[info->sequence];
    if (!pair.forward.valid() || ranges.thread[pair.forward.value] == ranges.thread[i]) {
      if (!pair.backward.valid()) pair.forward = RangeId{i};
    } else if (!pair.backward.valid() && ranges.start[i] >= ranges.end[pair.forward.value]) {
      pair.backward = RangeId{i};
    }
  }
  std::vector<AutogradPair> whole;
  for (const auto& [sequence, pair] : pairs) {
    if (pair.forward.valid() && pair.backward.valid()) whole.push_back(pair);
  }
  return whole;
}

}  // namespace headway::trace::export_detail
