// SPDX-License-Identifier: MIT
// serial-per-sample: the same short sequence of kernels runs once per sample instead of once per batch.
//
// Symptom: a loop over a batch's samples: the same few short kernels repeat tens of times in a
//   row.
// Mechanism: each repetition processes one sample, too little to fill the device, and pays all
//   launches. For the whole batch, the kernels would take about as long as one repetition.
// Formula: on one stream, within one step and outside the update, a period of 3 to 64 kernels without matrix work,
//   at least 8 times in a row, with something besides arithmetic in it (index, sort, reduction, copy). Recoverable =
//   (1 - 1/repetitions) x time from its first kernel to its last, idle time included. A rule of thumb: batched
//   kernels of small samples take no longer than one of them.
// Falsified by: repetitions whose kernels fill the device; batching then saves only launches.
// Known false positives: layers without matrix work; losses that are computed per scale on purpose.
// Source: the per-image assignment of anchor-free detectors (SimOTA) and its batched rewrites.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/serial_repeats.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

struct Serial {
  DurationNs recoverable;
  DurationNs time;
  double places = 0;
  double repetitions = 0;
  double kernels = 0;
  std::vector<Evidence> evidence;
};

Serial measure(const RuleContext& context, const DevicePartition& device) {
  Serial result;
  LongestEvidence longest;
  const trace::DeviceOps& all = context.trace.device_ops;
  std::int64_t steps = for_each_serial_repeat(context, device, [&](const SerialRepeat& repeat) {
    Interval where{all.start[repeat.ops.front().value], all.end[repeat.ops.back().value]};
    auto count = static_cast<double>(repeat.count);
    result.time += where.length();
    result.recoverable += DurationNs{
        static_cast<std::int64_t>(static_cast<double>(where.length().ns) * (1 - 1 / count))};
    result.places += 1;
    if (count > result.repetitions) {
      result.repetitions = count;
      result.kernels = static_cast<double>(repeat.period);
    }
    if (longest.wants(where.length()))
      longest.add(where, repeat.ops.front(),
                  fmt::format("{} kernels, {} times in a row", repeat.period, repeat.count));
  });
  if (steps == 0) return result;
  result.time = result.time / steps;
  result.recoverable = result.recoverable / steps;
  result.places /= static_cast<double>(steps);
  result.evidence = longest.take();
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, serial] = worst_device(
      context, [&](const DevicePartition& d, const KernelWork&) { return measure(context, d); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  if (ratio(serial.recoverable, context.step) < kFindingShare) {
    if (std::all_of(context.work.begin(), context.work.end(),
                    [](const KernelWork& work) { return work.compute().ns == 0; }))
      return cannot_tell(rule, "No device ran a kernel.");
    return fine(rule, fmt::format("Repeated short kernel sequences: {}.",
                                  of_step(context, serial.time, context.step)));
  }
  Finding finding = found(rule, serial.recoverable, context);
  finding.claim = fmt::format(
      "A sequence of {:.0f} short kernels without matrix work runs up to {:.0f} times in a row. "
      "Such runs occur {:.1f} times {} and take {}: the program processes samples one by one.",
      serial.kernels, serial.repetitions, serial.places, per_step(context),
      of_step(context, serial.time, context.step));
  finding.confidence = 0.55;  // that the repetitions are samples is inferred
  finding.evidence = std::move(serial.evidence);
  finding.advice = {
      {"headway-train",
       "Match the boxes of all images together. SSD's matching can also run in the loader's "
       "workers.",
       "--assign batched", settings(context.trace, {"assign"})},
      {"PyTorch",
       "Process the whole batch at once: pad to the largest sample and mask, or vectorise the "
       "function.",
       "torch.vmap(per_sample), torch.nested, padded tensors with a mask", ""},
      {"TensorFlow/JAX", "Vectorise over the batch dimension.",
       "jax.vmap(per_sample), tf.vectorized_map", ""}};
  return finding;
}

}  // namespace

extern const Rule kSerialPerSample = {
    "serial-per-sample", "Samples processed one by one",
    "The same short kernel sequence repeats at least 8 times in a row, for over 5 % of the step.",
    check};

}  // namespace headway::analyzer
