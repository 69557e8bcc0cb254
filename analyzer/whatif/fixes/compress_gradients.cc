// SPDX-License-Identifier: MIT
// Gradients travel in half precision: half the bytes, for two more kernels a message.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/gradient_kernels.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Bytes per value. Rounding reads the value (4) and the remainder of earlier steps (4), and writes
/// the half (2) and the new remainder (4); widening reads 2 and writes 4.
constexpr double kRoundBytes = 14;
constexpr double kWidenBytes = 6;

/// A stage of the gradients' sum: the only all-reduce, or one of the collectives inside and across
/// nodes.
struct Stage {
  std::vector<Transfer> messages;
  TransferModel model;
  double kernel_bytes = 0;  ///< bytes per value of the kernels before or after its messages
  int kernels = 0;          ///< number of kernels
};

/// Selects one of the lines of a model.
using LineOf = const TransferLine& (*)(const TransferModel&);

/// Messages with half the bytes. Empty if the rate of the rounding kernels is not known.
Scenario at_half(const Predictor& predictor, const std::vector<Stage>& stages, LineOf line_of) {
  const Trace& trace = predictor.trace();
  const DependencyGraph& graph = predictor.program().graph();
  const DurationNs least = shortest_kernel(trace.device_ops);
  Editor editor(predictor);
  for (const Stage& stage : stages) {
    const TransferLine line = line_of(stage.model);
    for (const Transfer& one : stage.messages) {
      const DeviceId device = trace.streams[trace.device_ops.stream[one.op.value].value].device;
      const double rate = gradient_bytes_per_ns(predictor, device);
      if (rate <= 0) return {};
      const double kernels = one.bytes / kGradientBytes * stage.kernel_bytes / rate;
      const double ns = one.ns - (line.of(one.bytes) - line.of(one.bytes / 2)) + kernels;
      const DurationNs starts = (least + graph.calibration().stream(device)) * stage.kernels;
      editor.set_transfer(one.op, starts + DurationNs{std::llround(one.wait + std::max(0.0, ns))},
                          true);
      if (stage.kernels > 0) launch_more(predictor, one.op, stage.kernels, editor);
    }
  }
  return editor.take();
}

/// The stages of the sum. A sum by nodes has three kinds of messages; gradients are rounded before
/// the first and widened after the last.
std::vector<Stage> stages_of_sum(std::vector<std::vector<Transfer>> exchange,
                                 const Predictor& predictor) {
  std::vector<Stage> stages;
  if (exchange.size() == 3 && exchange.front().front().kind == "reducescatter") {
    for (auto& messages : exchange) stages.push_back({std::move(messages), {}});
    stages.front().kernel_bytes = kRoundBytes;
    stages.back().kernel_bytes = kWidenBytes;
    stages.front().kernels = stages.back().kernels = 1;
  } else {
    stages.push_back({main_all_reduces(predictor), {}, kRoundBytes + kWidenBytes, 2});
  }
  for (Stage& stage : stages) {
    if (!stage.messages.empty()) stage.model = model_transfers(predictor, stage.messages);
    std::erase_if(stage.messages, [&](const Transfer& one) {
      return !in_single_precision(predictor.trace().strings[one.dtype]);
    });
  }
  return stages;
}

Proposal propose(const Predictor& predictor) {
  if (main_all_reduces(predictor).empty())
    return not_here("no all-reduce of known size was recorded");
  std::vector<std::vector<Transfer>> exchange = stages_of_exchange(predictor);
  if (exchange.size() > 1 && std::ranges::all_of(exchange, [](const auto& its) {
        return its.front().kind == "allreduce";
      }))
    return not_here("gradients are summed in rounds: they are already compressed");
  const std::vector<Stage> stages = stages_of_sum(std::move(exchange), predictor);
  if (std::ranges::any_of(stages, [](const Stage& stage) { return stage.messages.empty(); }))
    return not_here("gradients do not travel in single precision");
  const bool well_told =
      std::ranges::all_of(stages, [](const Stage& stage) { return stage.model.ends.empty(); });
  std::string text;
  for (const Stage& stage : stages) text += (text.empty() ? "" : "; ") + stage.model.text;
  Proposal proposal{
      true,
      fmt::format("{}; half the bytes, plus kernels that round and widen{}{}", text,
                  well_told ? "" : "; message sizes hardly separate bytes from latency",
                  stages.front().messages.front().matched
                      ? ""
                      : "; one rank alone: includes waiting for others"),
      at_half(predictor, stages,
              [](const TransferModel& model) -> const TransferLine& { return model.line; })};
  if (proposal.scenario.edits.empty())
    return not_here("the device's memory bandwidth is unknown and not calibrated");
  if (!well_told) {
    for (const LineOf end :
         {+[](const TransferModel& model) -> const TransferLine& { return model.most_bytes(); },
          +[](const TransferModel& model) -> const TransferLine& { return model.most_latency(); }})
      proposal.otherwise.push_back(at_half(predictor, stages, end));
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
    "Half the bytes at the bandwidth fitted to the recorded all-reduces, or to each stage of "
    "hierarchical sums. A rounding kernel runs before each sum (14 bytes per value, with error "
    "feedback) and a widening kernel after it (6 bytes).",
    "model quality, whether conversion kernels overlap compute, and, with a single message size, "
    "the split between bytes and latency",
    propose};

}  // namespace headway::analyzer
