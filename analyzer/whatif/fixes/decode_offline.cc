// SPDX-License-Identifier: MIT
// Samples are decoded once, before training; training reads decoded samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/op_graph.h"
#include "analyzer/evidence/storage_model.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Bytes that are copied to the device in a step.
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

/// Batches per step; more than one if gradients are accumulated.
double batches_of_step(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const auto steps =
      static_cast<double>(steps_of_a_thread(predictor)) * static_cast<double>(trainers_in(trace));
  return std::max(1.0, std::round(static_cast<double>(batches_made(trace)) / steps));
}

/// The channels of a result "samples x height x width x channels", or with the channels second.
std::int64_t channels_of(const std::vector<std::int64_t>& extents) {
  return extents[1] == extents[2] ? extents[3] : extents[1];
}

/// Count of numbers in the pictures of a batch, which the first op of the graph reads. 0 without a
/// graph, or if its input is not pictures.
std::int64_t numbers_used(const Trace& trace) {
  constexpr std::size_t kPictures = 4;
  const GraphOp* first = nullptr;
  for (const GraphOp& op : trace.graph_ops)
    if (op.phase == Phase::kForward && op.inputs.empty() && (!first || op.op < first->op))
      first = &op;
  if (!first) return 0;
  const std::vector<std::int64_t> extents = extents_in(first->shape);
  if (extents.size() != kPictures || first->output_bytes <= 0) return 0;
  const auto results = static_cast<double>(elements_in(first->shape));
  if (first->flops <= 0) return std::llround(results);  // changes their type or their layout
  // A convolution: each result uses `depth` input numbers and as many weights of its channel.
  const double depth = static_cast<double>(first->flops) / 2 / results;
  const double size = static_cast<double>(first->output_bytes) / results;
  const double weights = depth * static_cast<double>(channels_of(extents));
  const double read = static_cast<double>(first->bytes - first->output_bytes) / size - weights;
  return std::llround(std::max(0.0, read));
}

/// Bytes of a batch that is stored decoded: one for each number that the model reads. Without a
/// graph: the bytes that are copied to the device, or a quarter of them if the host augments,
/// because then a stored byte is copied as a float.
std::int64_t stored_bytes(const Predictor& predictor) {
  constexpr std::int64_t kBytesOfFloat = 4;
  if (const std::int64_t used = numbers_used(predictor.trace()); used > 0) return used;
  const bool floats = time_of_stage(predictor.trace(), RangeKind::kAugment).ranges > 0;
  return std::llround(static_cast<double>(bytes_of_input(predictor)) / batches_of_step(predictor)) /
         (floats ? kBytesOfFloat : 1);
}

/// Bytes of a decoded batch, from ranges; 0 if no range has them.
double decoded_bytes(const Trace& trace) {
  const std::int64_t batches = batches_made(trace);
  std::int64_t bytes = 0;
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const RangeInfo* info = trace.info(RangeId{r});
    if (info && info->kind == RangeKind::kDecode) bytes += std::max<std::int64_t>(0, info->bytes);
  }
  return batches ? static_cast<double>(bytes) / static_cast<double>(batches) : 0;
}

/// Size of stored samples as a multiple of the size that the model reads. Larger pictures are
/// usually stored for cropping: 224 of 256 pixels a side.
double kept_for_crops(const Predictor& predictor) {
  constexpr double kLarger = 1.05;
  constexpr double kSide = 256.0 / 224;
  const Trace& trace = predictor.trace();
  const auto used = static_cast<double>(numbers_used(trace));
  const bool crops = used > 0 && decoded_bytes(trace) > kLarger * used;
  return crops && !predictor.analysis().program.is_inference() ? kSide * kSide : 1;
}

/// Factor on the bytes read if samples are stored decoded.
double bytes_by(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const std::int64_t batches = batches_made(trace);
  const std::int64_t read = batches ? sum_reads(trace).bytes / batches : 0;
  const std::int64_t stored = stored_bytes(predictor);
  return read && stored ? static_cast<double>(stored) / static_cast<double>(read) : 1;
}

/// What the time of resizing is proportional to: the source (filters that weigh all of it), the
/// result (filters that read only what they need), or both (the usual filters of two passes).
enum class ResizeCost { kBoth, kSource, kResult };
/// Time for a pixel of the result, relative to one of the source. To 128 and 224 pixels a side, from
/// 1.3 to 9 times the area: 1.8 to 2.0 in Pillow 13.0 (bilinear), 1.5 to 2.3 in torchvision 0.29.2
/// (tensors, with and without antialiasing): tests/bench/resize_weights.py.
constexpr double kResultWeighs = 2;

/// Names of the ranges that resize.
std::set<StringId> resizing(const Trace& trace) {
  std::set<StringId> names;
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const RangeInfo* info = trace.info(RangeId{r});
    const StringId name = trace.ranges.name[r];
    if (info && info->kind == RangeKind::kAugment &&
        trace.strings[name].find("esize") != std::string_view::npos)
      names.insert(name);
  }
  return names;
}

/// Shortens resizing, because pictures are stored about as large as they are used. `by`: factor on
/// that size.
void scale_resizing(const Predictor& predictor, double by, ResizeCost cost, Scenario& scenario) {
  if (cost == ResizeCost::kResult) return;
  const Trace& trace = predictor.trace();
  const auto used = static_cast<double>(stored_bytes(predictor));
  const std::set<StringId> names = resizing(trace);
  const double decoded = decoded_bytes(trace);
  const double stored = used * by;
  if (used <= 0 || stored >= decoded) return;
  const double result = cost == ResizeCost::kBoth ? kResultWeighs * used : 0;
  for (std::size_t p = 0; p < predictor.parts().size(); ++p) {
    const Part& part = predictor.parts()[p];
    if (part.kind == Part::Kind::kHost && names.contains(part.name))
      scenario.scale(PartId::from(p), (stored + result) / (decoded + result));
  }
}

/// Shrinks the copies if the device augments: then whole pictures are copied, and stored ones are
/// about as large as they are used.
Scenario smaller_copies(const Predictor& predictor, double by) {
  constexpr double kBesidesPixels = 1.02;  // where each picture lies, and how large it is
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  std::map<std::int64_t, std::int64_t> decoded;  // bytes by batch
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const RangeInfo* info = trace.info(RangeId{r});
    if (info && info->kind == RangeKind::kDecode && info->bytes > 0)
      decoded[info->batch] = info->bytes;
  }
  const double stored = by * static_cast<double>(stored_bytes(predictor));
  Editor editor(predictor);
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] != DeviceOpKind::kCopyHostToDevice) continue;
    const auto whole = decoded.find(ops.batch[i]);
    const auto bytes = static_cast<double>(ops.bytes[i]);
    if (whole == decoded.end() || stored <= 0 || stored >= bytes) continue;
    const double pixels = bytes / static_cast<double>(whole->second);
    if (pixels < 1 || pixels > kBesidesPixels) continue;
    const auto now = static_cast<double>(ops.interval(DeviceOpId{i}).length().ns);
    editor.set_transfer(DeviceOpId{i}, DurationNs{std::llround(now * stored / bytes)}, true);
  }
  return editor.take();
}

/// Share of the reading time that is proportional to the bytes: likely, at least and at most. If
/// reads of one size show no limit, the parts of bytes and requests cannot be separated.
struct ForBytes {
  double likely;
  double least;
  double most;
};
ForBytes for_bytes(const Predictor& predictor) {
  const StorageModel storage = storage_of_loaders(predictor);
  const double modelled = storage.left_with_bytes(2) - 1;
  const auto of_requests = storage.of_requests();
  if (!of_requests || storage.shared()) return {modelled, modelled, modelled};
  return {1 - of_requests->likely, 1 - of_requests->most, 1};
}

/// `by`: size of stored samples as a multiple of the used size. `for_bytes`: share of the reading
/// time that is proportional to the bytes.
Scenario decoded(const Predictor& predictor, double for_bytes, double bytes, double by,
                 ResizeCost resize = ResizeCost::kBoth) {
  Scenario scenario = smaller_copies(predictor, by);
  scale_stage(predictor, RangeKind::kDecode, 0, scenario);
  scale_resizing(predictor, by, resize, scenario);
  bytes *= by;
  scale_stage(predictor, RangeKind::kRead, 1 + (bytes - 1) * for_bytes, scenario);
  scenario.at_least = least_for_storage(predictor, bytes);
  return scenario;
}

Proposal propose(const Predictor& predictor) {
  // Samples may be stored somewhat larger than they are used (for cropping) or smaller (before
  // padding).
  constexpr double kOtherSize = 1.5;
  const StageTime decoding = time_of_stage(predictor.trace(), RangeKind::kDecode);
  if (decoding.ranges == 0) return not_here("no range separates decoding from other sample work");
  if (samples_are_numbers(predictor.trace()))
    return not_here("samples are stored as numbers: their decoding is only a copy");
  const double bytes = bytes_by(predictor);
  const double usual = kept_for_crops(predictor);
  const ForBytes share = for_bytes(predictor);
  Proposal proposal{
      true,
      fmt::format("saves {} of decoding per range; reads bring {:.2g} times the bytes",
                  format_duration(decoding.time / decoding.ranges), usual * bytes),
      decoded(predictor, share.likely, bytes, usual)};
  for (const double by : {1 / kOtherSize, usual * kOtherSize})
    proposal.otherwise.push_back(decoded(predictor, share.likely, bytes, by));
  if (share.least < share.most)
    for (const double end : {share.least, share.most})
      proposal.otherwise.push_back(decoded(predictor, end, bytes, usual));
  if (resizing(predictor.trace()).empty()) return proposal;
  for (const ResizeCost cost : {ResizeCost::kSource, ResizeCost::kResult})
    proposal.otherwise.push_back(decoded(predictor, share.likely, bytes, usual, cost));
  return proposal;
}

}  // namespace

const Fix kDecodeOffline{
    "decode-offline",
    "Decode samples once, before training",
    "input-bound, copy-not-overlapped",
    FixKind::kModelled,
    0.1,
    "--decode offline",
    "Decoding ranges take no time. Stored images have 1.3 times the pixels that the model sees "
    "(256 "
    "of 224 a side for crops): copies of whole images to a device that resizes scale with it, and "
    "so does resizing, of which a pixel of the result takes twice as long as one of the source. "
    "Reads bring as many bytes (without a graph: those copied to the device, or a "
    "quarter if the host augments) and take time in proportion.",
    "the stored sample type, and storage throughput with it",
    propose};

}  // namespace headway::analyzer
