// SPDX-License-Identifier: MIT
// Kernels that run once per sample run once for all samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/serial_repeats.h"
#include "analyzer/hardware/gpus.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Factor on a kernel's time for `times` samples: by how many more waves of blocks its grid needs.
double longer(std::int64_t blocks, std::int64_t times, std::int32_t multiprocessors) {
  if (blocks <= 0 || multiprocessors <= 0)
    return 1;  // the rule's assumption: small samples do not fill the device
  const auto waves = [&](std::int64_t grid) {
    return std::ceil(static_cast<double>(grid) / multiprocessors);
  };
  return waves(blocks * times) / waves(blocks);
}

struct Repeats {
  std::size_t most = 0;      ///< rounds in a row
  std::int64_t dropped = 0;  ///< kernels per step
};

Repeats batch(const Predictor& predictor, const RuleContext& context, const DevicePartition& device,
              Editor& editor) {
  const DeviceOps& ops = context.trace.device_ops;
  const Points& points = predictor.program().graph().points();
  const std::int32_t processors = limits_of(context, device).multiprocessors;
  const DurationNs least = shortest_kernel(ops);
  Repeats repeats;
  const std::int64_t steps =
      for_each_serial_repeat(context, device, [&](const SerialRepeat& repeat) {
        repeats.most = std::max(repeats.most, repeat.count);
        for (std::size_t i = 0; i < repeat.ops.size(); ++i) {
          const DeviceOpId op = repeat.ops[i];
          if (i >= repeat.period) {
            editor.drop_op(op);
            ++repeats.dropped;
            continue;
          }
          const auto working = static_cast<double>((ops.interval(op).length() - least).ns);
          const double times =
              longer(ops.blocks[op.value], static_cast<std::int64_t>(repeat.count), processors);
          editor.set_duration(points.task(op), least + DurationNs{std::llround(working * times)},
                              true);
        }
      });
  repeats.dropped /= std::max<std::int64_t>(1, steps);
  return repeats;
}

Proposal propose(const Predictor& predictor) {
  const RuleContext context = rule_context(predictor);
  const std::size_t at = predictor.steps().partition;
  if (!context.partitions[at].device.valid()) return not_here("the steps run on a host thread");
  Editor editor(predictor);
  Repeats told;
  // On every rank: an unchanged rank would delay the others.
  for (std::size_t i = 0; i < context.partitions.size(); ++i) {
    if (!context.partitions[i].device.valid()) continue;
    const Repeats repeats = batch(predictor, context, context.partitions[i], editor);
    if (i == at) told = repeats;
  }
  if (told.most == 0) return not_here("no small set of kernels runs many times in a row");
  return {true,
          fmt::format("saves {} kernels per step: work repeated {} times in a row runs once",
                      told.dropped, told.most),
          editor.take()};
}

}  // namespace

const Fix kBatchSamples{
    "batch-samples",
    "Process all samples at once",
    "serial-per-sample",
    FixKind::kModelled,
    0.3,
    "--assign batched",
    "Of kernels repeated in a row, the first round stays and grows as its larger grid fills the "
    "multiprocessors; the others are neither run nor launched.",
    "whether all samples have one size",
    propose};

}  // namespace headway::analyzer
