// SPDX-License-Identifier: MIT
// Gradients travel in half precision: half the bytes, for two more kernels a message.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_rates.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Rounding reads a value (4 bytes) and what earlier steps left of it (4), and writes the half (2) and the new
/// remainder (4); widening reads 2 and writes 4.
constexpr double kRoundBytes = 14;
constexpr double kWidenBytes = 6;
constexpr double kValueBytes = 4;

/// The call also launches the two kernels.
void launch_more(const Predictor& predictor, DeviceOpId op, Editor& editor) {
  const DependencyGraph& graph = predictor.program().graph();
  const CallId call = predictor.trace().device_ops.call[op.value];
  if (!call.valid()) return;
  const TaskId task = graph.points().task(call);
  editor.set_duration(task, graph.base(task) * 3, true);
}

/// Of the kernels that round and widen. On a device of threads one of them does that, as it copies: a byte in, a byte out.
double bytes_per_ns(const Predictor& predictor, DeviceId id) {
  const Trace& trace = predictor.trace();
  if (trace.devices[id.value].type != DeviceType::kHost) return memory_bytes_per_ns(predictor, id);
  const auto copy = predictor.machine().of_host(trace, MachineFigure::kHostCopy);
  return copy ? 2 * copy->value.p50 / 1e9 : 0;
}

/// Empty where the rate of the kernels beside the messages is not known.
Scenario at_half(const Predictor& predictor, const std::vector<Transfer>& all,
                 const TransferLine& line) {
  const Trace& trace = predictor.trace();
  const DependencyGraph& graph = predictor.program().graph();
  const DurationNs least = shortest_kernel(trace.device_ops);
  Editor editor(predictor);
  for (const Transfer& one : all) {
    const DeviceId device = trace.streams[trace.device_ops.stream[one.op.value].value].device;
    const double rate = bytes_per_ns(predictor, device);
    if (rate <= 0) return {};
    const double values = one.bytes / kValueBytes;
    const double kernels = values * (kRoundBytes + kWidenBytes) / rate;
    const double ns = one.ns - (line.of(one.bytes) - line.of(one.bytes / 2)) + kernels;
    const DurationNs starts = (least + graph.calibration().stream(device)) * 2;
    editor.set_transfer(one.op, starts + DurationNs{std::llround(one.wait + std::max(0.0, ns))},
                        true);
    launch_more(predictor, one.op, editor);
  }
  return editor.take();
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  std::vector<Transfer> all = main_all_reduces(predictor);
  if (all.empty()) return not_here("no all-reduce of known size was recorded");
  const std::vector<std::vector<Transfer>> stages = stages_of_exchange(predictor);
  if (stages.size() > 1 &&
      std::ranges::all_of(stages, [](const auto& its) { return its.front().kind == "allreduce"; }))
    return not_here("gradients are summed in rounds: they are compressed already");
  const TransferModel model = model_transfers(predictor, all);
  std::erase_if(
      all, [&](const Transfer& one) { return !in_single_precision(trace.strings[one.dtype]); });
  if (all.empty()) return not_here("the gradients do not travel in single precision");
  Proposal proposal{
      true,
      fmt::format(
          "{}; half the bytes, and kernels that round and widen{}{}", model.text,
          model.told_apart ? "" : "; of one size: half of their time is taken to be for bytes",
          all.front().matched ? "" : "; one rank alone: waiting for others is in it"),
      at_half(predictor, all, model.likely())};
  if (proposal.scenario.edits.empty())
    return not_here("the rate of the device's memory is not known, and it was not calibrated");
  if (!model.told_apart) {
    for (const TransferLine& line : {model.line, model.latency_only})
      proposal.otherwise.push_back(at_half(predictor, all, line));
  }
  return proposal;
}

}  // namespace

const Fix kCompressGradients{
    "compress-gradients",
    "Exchange gradients in half precision",
    "comm-exposed, comm-slow-link",
    FixKind::kModelled,
    0.25,
    "--compress fp16",
    "Half the bytes at the bandwidth that is fitted to the recorded all-reduces; before each a "
    "kernel that "
    "rounds (14 bytes a value, with what rounding took away before), after it one that widens (6).",
    "whether the model learns as well, whether kernels round and widen beside computation, and of "
    "messages of one size "
    "whether bytes or latency take the time",
    propose};

}  // namespace headway::analyzer
