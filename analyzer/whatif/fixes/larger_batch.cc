// SPDX-License-Identifier: MIT
// A step has twice the samples: kernels fill the device better, and costs that do not depend on
// the batch (launches, the update, the exchange of gradients) occur half as often. Lengths are
// per recorded batch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/pipeline.h"
#include "analyzer/evidence/product_waves.h"
#include "analyzer/evidence/serial_repeats.h"
#include "analyzer/evidence/storage_model.h"
#include "analyzer/whatif/batch_growth.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr int kTimes = 2;
/// Least cost of a partial last wave of blocks, relative to a full one.
constexpr double kTailCostsLeast = 0.2;
/// Usable share of the memory.
constexpr double kUsable = 0.9;
/// Certainty if memory may not suffice or is not known.
constexpr double kMayNotFit = 0.7;

/// Whether a batch is read by one request, so that more samples lengthen only the transfer.
struct Requests {
  bool one = false;   ///< most likely one request per batch
  bool known = true;  ///< false: one request per sample or one for all are equally possible
};
Requests requests_of_batch(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Reads reads = sum_reads(trace);
  const std::int64_t batches = batches_made(trace);
  if (reads.count == 0 || 2 * reads.count > 3 * batches) return {};
  // A range covers the reading of a batch. Without calls on files, its requests are not known (for
  // example, one file per sample).
  if (trace.io.size() == 0) return {false, false};
  // A batch of one sample may be one file; a batch of two samples then has two files.
  const std::optional<double> samples = predictor.analysis().samples_per_step;
  if (!samples || !reads.files) return {true, true};
  const auto ranks = static_cast<double>(trainers_in(trace));
  const double seen = ranks / std::max<double>(ranks, trace.world_size);
  const auto steps = static_cast<double>(steps_of_a_thread(predictor));
  return {true, *samples * seen * steps >= 1.5 * static_cast<double>(batches)};
}

/// The scenario with workers at a shared storage, from which a batch reads `reading` times as much.
Scenario at_shared_storage(const Predictor& predictor, Editor& editor, double reading) {
  const Points& points = predictor.program().graph().points();
  LoaderPools pools(predictor, editor);
  for (const Loader& loader : find_loaders(points))
    if (has_workers(points, loader) && pools.storage_of(loader).shared())
      pools.add_as_recorded(loader);
  Scenario scenario;
  pools.move_into(scenario, reading);
  scenario.at_least =
      DurationNs{std::llround(reading * static_cast<double>(least_for_storage(predictor).ns))};
  return scenario;
}

/// Making input for twice the samples takes twice the time, in ranges of a loader or not. If
/// workers share a storage, its transfers also take twice the time, and workers wait for each
/// other. The first scenario is the likeliest. If requests and bytes of a read cannot be separated,
/// two more follow, in which each of them takes all the time.
std::vector<Scenario> making(const Predictor& predictor, Editor& editor) {
  const Points& points = predictor.program().graph().points();
  const auto [one_request, known] = requests_of_batch(predictor);
  const StorageModel storage = storage_of_loaders(predictor);
  const bool shared = [&] {
    const LoaderPools pools(predictor, editor);
    return std::ranges::any_of(find_loaders(points), [&](const Loader& loader) {
      return has_workers(points, loader) && pools.storage_of(loader).shared();
    });
  }();
  std::vector<double> reading = {one_request ? 1.0 : kTimes};
  if (shared) reading = {kTimes};
  if (one_request && storage.total.ns > 0) {
    const auto of_requests = storage.of_requests();
    if (!shared) reading = {storage.left_with_bytes(kTimes)};
    if (of_requests && storage.limited()) reading = {kTimes - of_requests->likely};
    if (of_requests && !storage.request)
      reading.insert(reading.end(), {kTimes - of_requests->most, kTimes});
  }
  std::vector<double> requests(reading.size(), one_request ? 1 : kTimes);
  if (!known) {  // it may be the other way
    reading.push_back(one_request ? kTimes : 1);
    requests.push_back(one_request ? kTimes : 1);
  }
  std::vector<Scenario> all;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    const double times = reading[i];
    Scenario scenario = shared ? at_shared_storage(predictor, editor, times) : Scenario();
    scale_input(predictor, kTimes, scenario);
    scale_stage(predictor, RangeKind::kRead, (shared ? requests[i] : times) / kTimes, scenario);
    all.push_back(std::move(scenario));
  }
  return all;
}

/// Streams of collectives. Other kernels there handle gradients, which do not grow with the batch.
std::set<StreamId> communication_streams(const Predictor& predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  std::set<StreamId> streams;
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (predictor.analysis().attribution.class_of[i] == TimeClass::kCommTransfer)
      streams.insert(ops.stream[i]);
  return streams;
}

/// Time in ns of an all-reduce, all-gather or reduce-scatter with twice the bytes. Its ring passes
/// on pieces, of which small ones take longer. The start stays.
double doubled_ring_ns(const Trace& trace, const Transfer& one) {
  const double piece = one.bytes / std::max(1, one.ranks);
  const double start = std::min(one.ns, kCollectiveStartNs);
  return start + kTimes * (one.ns - start) * time_of_small_piece(trace, one.op, kTimes * piece) /
                     time_of_small_piece(trace, one.op, piece);
}

/// By op: true if it runs once for each sample of a batch.
std::vector<bool> once_per_sample(const Predictor& predictor) {
  std::vector<bool> repeated(predictor.trace().device_ops.size());
  const RuleContext context = rule_context(predictor);
  for (const DevicePartition& device : context.partitions)
    for_each_serial_repeat(context, device, [&](const SerialRepeat& repeat) {
      for (const DeviceOpId op : repeat.ops) repeated[op.value] = true;
    });
  return repeated;
}

/// A kernel that runs for the added samples, too: each time with its launch and the gap before it.
void repeat(const Predictor& predictor, DeviceOpId op, Editor& editor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const DependencyGraph& graph = predictor.program().graph();
  const DeviceId device = predictor.trace().streams[ops.stream[op.value].value].device;
  editor.set_duration(
      graph.points().task(op),
      ops.interval(op).length() * kTimes + graph.calibration().stream(device) * (kTimes - 1), true);
  if (ops.call[op.value].valid()) editor.repeat_call(ops.call[op.value], kTimes);
}

/// Kernels, copies to the device and messages with twice the samples. `power`: cost of a partial
/// last wave; 1: as much as a full one, 0: nothing. `take`: estimate of the bytes' part in
/// messages.
Scenario computing(const Predictor& predictor, double power, TimePerByte per_byte,
                   BytesTake take = BytesTake::kLikely) {
  const Trace& trace = predictor.trace();
  const Analysis& analysis = predictor.analysis();
  const DeviceOps& ops = trace.device_ops;
  const Points& points = predictor.program().graph().points();
  const std::set<StreamId> communication = communication_streams(predictor);
  const BatchGrowth growth(predictor, power, per_byte);
  Editor editor(predictor);
  const std::vector<bool> repeated = once_per_sample(predictor);
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (repeated[i]) {
      repeat(predictor, DeviceOpId{i}, editor);
      continue;
    }
    const bool kernel = ops.kind[i] == DeviceOpKind::kKernel;
    if (!kernel && ops.kind[i] != DeviceOpKind::kCopyHostToDevice) continue;
    if (analysis.attribution.phase_of[i] == Phase::kUpdate || communication.contains(ops.stream[i]))
      continue;
    editor.set_duration(points.task(DeviceOpId{i}), growth.doubled(DeviceOpId{i}), true);
  }
  // Messages between the stages of a pipeline carry activations, which double.
  for (const Collective& one : trace.collectives)
    if (one.op.valid() && is_point_to_point(trace.strings[one.kind]))
      editor.scale_message(one, kTimes, take);
  // Tokens to experts and back, rows of shared tables, and activations of shared layers double,
  // too.
  const auto least = static_cast<double>(shortest_kernel(ops).ns);
  for (const Transfer& one : transfers_of(predictor))
    if (one.of_layer) {
      editor.set_transfer(one.op, {std::llround(one.wait + doubled_ring_ns(trace, one))}, true);
    } else if (one.kind == "alltoall") {
      const double start = std::min(one.ns, least);
      editor.set_transfer(one.op, {std::llround(start + kTimes * (one.ns - start))}, true);
    }
  return editor.take();
}

/// Factor on the time of a step's kernels for twice the samples.
double device_growth(const Predictor& predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const BatchGrowth growth(predictor, kTailCosts);
  const std::vector<bool> repeated = once_per_sample(predictor);
  double now = 0;
  double then = 0;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] != DeviceOpKind::kKernel) continue;
    const bool update = predictor.analysis().attribution.phase_of[i] == Phase::kUpdate;
    const DurationNs length = ops.end[i] - ops.start[i];
    now += static_cast<double>(length.ns);
    then += static_cast<double>((update        ? length
                                 : repeated[i] ? length * kTimes
                                               : growth.doubled(DeviceOpId{i}))
                                    .ns);
  }
  return now > 0 ? then / now : 1;
}

bool has_update(const Predictor& predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (ops.kind[i] == DeviceOpKind::kKernel &&
        predictor.analysis().attribution.phase_of[i] == Phase::kUpdate)
      return true;
  return false;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DevicePartition& partition = predictor.analysis().partitions[predictor.steps().partition];
  if (!partition.device.valid()) return not_here("the steps run on a host thread");
  const Scenario usual = computing(predictor, kTailCosts, TimePerByte::kLikely);
  if (usual.edits.empty()) return not_here("no kernels were recorded");
  if (!has_update(predictor))
    return not_here("update kernels, which a larger batch does not change, are unknown");
  Editor editor(predictor);
  repeat_epochs(predictor, kTimes, device_growth(predictor), editor);
  const std::vector<Scenario> inputs = making(predictor, editor);
  const Scenario host_side = editor.take();
  auto whole = [&](const Scenario& device_side, const Scenario& input) {
    Scenario scenario = device_side.with(host_side).with(input);
    scenario.work = kTimes;
    return scenario;
  };
  Proposal proposal{
      true, fmt::format("a step takes {} times the samples; times are per recorded batch", kTimes),
      whole(usual, inputs.front())};
  for (std::size_t i = 1; i < inputs.size(); ++i)
    proposal.otherwise.push_back(whole(usual, inputs[i]));
  proposal.otherwise.push_back(
      whole(computing(predictor, kTailCostsLeast, TimePerByte::kBest), inputs.front()));
  proposal.otherwise.push_back(whole(computing(predictor, 1, TimePerByte::kOwn), inputs.front()));
  if (passes_messages(trace)) {
    for (const BytesTake take : {BytesTake::kLeast, BytesTake::kMost})
      proposal.otherwise.push_back(
          whole(computing(predictor, kTailCosts, TimePerByte::kLikely, take), inputs.front()));
  }
  const Device& device = trace.devices[partition.device.value];
  const double used = counters::memory_peak(trace, partition.device);
  if (used <= 0 || kTimes * used > kUsable * static_cast<double>(device.memory_bytes))
    proposal.certainty = kMayNotFit;
  return proposal;
}

}  // namespace

const Fix kLargerBatch{
    "larger-batch",
    "Double the batch",
    "low-occupancy, memory-headroom",
    FixKind::kModelled,
    0.2,
    "",  // --batch changes the training: nothing to be tried for speed alone
    "Kernels except update and communication, copies to the device, all-to-alls and batch making "
    "take twice their time beyond the shortest kernel, less the gain from a fuller grid (a partial "
    "last wave costs the root of its share). Of a memory-bound kernel's time, only its bytes' "
    "share grows, at "
    "a rate between the best of its family and the best of all. Memory-bound products read weights "
    "once. Kernels repeated once per sample, and their launches, come twice as often. Pipeline "
    "messages carry twice the bytes (at 1 Gb/s, down to the remainder of 200 µs). Weight casts, "
    "gradient sums and launches stay; work once per epoch comes twice as often. Times are per "
    "recorded batch.",
    "whether memory suffices, whether other host work scales with steps or samples, how many "
    "storage requests one batch makes, and the effect on training quality",
    propose,
    true};

}  // namespace headway::analyzer
