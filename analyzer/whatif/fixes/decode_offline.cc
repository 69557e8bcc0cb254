// SPDX-License-Identifier: MIT
// Samples are decoded once, before training, and read as they are used.
#include <fmt/format.h>

#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/storage_model.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Copied to the device in a step.
std::int64_t bytes_of_input(const Predictor& predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const Analysis& analysis = predictor.analysis();
  std::int64_t bytes = 0;
  const std::int64_t steps = for_each_steady_op(
      predictor.trace(), analysis.steps, analysis.partitions[predictor.steps().partition],
      [&](const DeviceStep&, DeviceOpId op) {
        if (ops.kind[op.value] == DeviceOpKind::kCopyHostToDevice) bytes += ops.bytes[op.value];
      });
  return steps ? bytes / steps : 0;
}

/// How many times as many bytes are read where samples are stored decoded. What the host augments is bytes in the
/// store and floats in the copy to the device. 1 where the device augments: what it gets may be larger than what
/// would be stored.
double bytes_by(const Predictor& predictor) {
  constexpr std::int64_t kBytesOfFloat = 4;
  const Trace& trace = predictor.trace();
  const std::int64_t batches = batches_made(trace);
  const std::int64_t read = batches ? sum_reads(trace).bytes / batches : 0;
  const std::int64_t stored = bytes_of_input(predictor) / kBytesOfFloat;
  if (read == 0 || stored == 0 || time_of_stage(trace, RangeKind::kAugment).ranges == 0) return 1;
  return static_cast<double>(stored) / static_cast<double>(read);
}

Proposal propose(const Predictor& predictor) {
  const StageTime decoding = time_of_stage(predictor.trace(), RangeKind::kDecode);
  if (decoding.ranges == 0) return not_here("no range says where samples are decoded");
  const double bytes = bytes_by(predictor);
  Proposal proposal{
      true,
      fmt::format("{} of decoding in a range go away, and reads bring {:.2g} times the bytes",
                  format_duration(decoding.time / decoding.ranges), bytes),
      {}};
  scale_stage(predictor, RangeKind::kDecode, 0, proposal.scenario);
  if (const StorageModel storage = storage_model(predictor.trace()); storage.total.ns > 0)
    scale_stage(predictor, RangeKind::kRead, storage.left_with_bytes(bytes), proposal.scenario);
  return proposal;
}

}  // namespace

const Fix kDecodeOffline{
    "decode-offline",
    "Decode samples once, before training",
    "input-bound",
    FixKind::kModelled,
    0.1,
    "--decode offline",
    "Ranges that decode take no time. Where the host augments, reads bring a quarter of the bytes "
    "that are copied to the device (bytes become floats), and their transfer takes that much "
    "longer "
    "or shorter.",
    "in which type samples are stored, and what the storage then serves",
    propose};

}  // namespace headway::analyzer
