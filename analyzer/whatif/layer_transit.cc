// SPDX-License-Identifier: MIT
#include "analyzer/whatif/layer_transit.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "analyzer/evidence/parameter_gathers.h"
#include "analyzer/evidence/pipeline.h"
#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {

using namespace trace;

LayerTransit scale_layer_transit(const Predictor& predictor, double times, BytesTake take,
                                 Editor& editor) {
  const Trace& trace = predictor.trace();
  const DevicePartition& partition = predictor.analysis().partitions[predictor.steps().partition];
  const bool parameters = find_parameter_gathers(rule_context(predictor), partition).gathers > 0;
  auto changes = [&](StringId dtype) {
    return in_single_precision(trace.strings[dtype]) == (times < 1);
  };
  LayerTransit found;
  for (const std::string_view kind : {"allgather", "reducescatter", "allreduce"}) {
    std::vector<Transfer> its = transfers_of(predictor);
    std::erase_if(its, [&](const Transfer& one) {
      return one.kind != kind || !changes(one.dtype) ||
             !(one.of_layer || (parameters && kind != "allreduce"));
    });
    if (its.empty()) continue;
    (its.front().of_layer ? found.activations : found.shards) = true;
    const TransferLine line = model_transfers(predictor, its).line;
    for (const Transfer& one : its) {
      const double by_bytes = line.of(times * one.bytes) - line.of(one.bytes);
      const double ns = std::max(std::min(line.of(0), one.ns), one.ns + by_bytes);
      editor.set_transfer(one.op, DurationNs{std::llround(one.wait + ns)}, true);
    }
  }
  for (const Collective& one : trace.collectives)
    if (one.op.valid() && is_point_to_point(trace.strings[one.kind]) && changes(one.dtype))
      editor.scale_message(one, times, take);
  return found;
}

}  // namespace headway::analyzer
