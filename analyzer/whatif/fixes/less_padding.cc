// SPDX-License-Identifier: MIT
// Samples of similar length share a batch, so that kernels compute on content only, not on padding.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "analyzer/evidence/padding.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_bound.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Least share of padding that is worth a new order of samples.
constexpr double kLeast = 0.01;
/// A kernel that runs at least this many times for one graph op and one batch runs once for each
/// element of a sample.
constexpr std::size_t kRepeats = 4;

/// Kernels of the forward and the backward pass by op, name and batch, in order. A step may have several batches.
using Runs =
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::vector<DeviceOpId>>;

/// The batch of an op; if it is not known, its step.
std::int64_t batch_of(const Predictor& predictor, DeviceOpId op) {
  const DeviceOps& ops = predictor.trace().device_ops;
  if (ops.batch[op.value] >= 0) return ops.batch[op.value];
  const std::vector<Step>& steps = predictor.analysis().steps.all;
  const auto next = std::ranges::upper_bound(steps, ops.start[op.value], {},
                                             [](const Step& one) { return one.host.begin; });
  return next - steps.begin();
}

/// Remaining share of a kernel's time. Less work means fewer blocks, which saves nothing if the
/// device runs all of them at once. The blocks of a recurrent kernel loop over all elements, so it
/// shrinks in proportion.
double share_left(const Predictor& predictor, DeviceOpId kernel, double padding,
                  std::int32_t multiprocessors) {
  return predictor.kernels().of(kernel).family == KernelFamily::kRecurrent
             ? 1 - padding
             : share_with_bytes(predictor, kernel, multiprocessors, 1 - padding);
}

/// Shortens a run of kernels with one kernel per element: those for padding are not launched.
void shorten(const Predictor& predictor, const std::vector<DeviceOpId>& run, double padding,
             DurationNs least, std::int32_t multiprocessors, Editor& editor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  if (run.size() >= kRepeats) {
    const auto left =
        static_cast<std::size_t>(std::llround((1 - padding) * static_cast<double>(run.size())));
    for (std::size_t i = left; i < run.size(); ++i) editor.drop_op(run[i]);
    return;
  }
  for (const DeviceOpId op : run) {
    const DurationNs now = ops.interval(op).length();
    if (now <= least) continue;
    const double left = share_left(predictor, op, padding, multiprocessors);
    editor.set_op(
        op, least + DurationNs{std::llround(left * static_cast<double>((now - least).ns))}, true);
  }
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const std::optional<double> padding = padding_of_batches(trace);
  if (!padding) return not_here("the amount of padding is unknown");
  if (*padding < kLeast) return not_here("batches contain hardly any padding");
  const Attribution& attribution = predictor.analysis().attribution;
  const DeviceOps& ops = trace.device_ops;
  Runs runs;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const Phase phase = attribution.phase_of[i];
    if (ops.kind[i] != DeviceOpKind::kKernel || phase == Phase::kUpdate ||
        attribution.class_of[i] == TimeClass::kCommTransfer)
      continue;
    runs[{attribution.op_of[i].value, ops.name[i].value, batch_of(predictor, DeviceOpId{i})}]
        .push_back(DeviceOpId{i});
  }
  if (runs.empty()) return not_here("no kernels were recorded");
  Editor editor(predictor);
  const DurationNs least = shortest_kernel(ops);
  const std::optional<DeviceLimits> limits = limits_of_steps(predictor);
  for (const auto& [what, run] : runs)
    shorten(predictor, run, *padding, least, limits ? limits->multiprocessors : 0, editor);
  if (editor.empty()) return not_here("no kernel would get shorter");
  return {
      true,
      fmt::format("{} of the batch contents (padding) is not computed", format_percent(*padding)),
      editor.take()};
}

}  // namespace

const Fix kLessPadding{
    "less-padding",
    "Batch samples of similar length",
    "padding",
    FixKind::kModelled,
    0.25,
    "--balance sorted",
    "Forward and backward kernels shrink to the content's share of their time above the minimum, "
    "unless the device takes all their blocks at once. "
    "Kernels that run at least four times per graph op and batch lose the launches for padding. "
    "Update and gradient exchange stay.",
    "remaining padding with coarse sorting, and the effect of sample order on training",
    propose};

}  // namespace headway::analyzer
