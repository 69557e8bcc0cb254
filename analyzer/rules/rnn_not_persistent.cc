// SPDX-License-Identifier: MIT
// rnn-not-persistent: a recurrent layer runs as a GEMM and a cell kernel per time step.
//
// Symptom: small GEMM, cell kernel (elemWiseRNNcell, lstm_cell, gru_cell), small GEMM, … tens of times in a row.
// Mechanism: each time step reads the recurrent weights from memory again and pays two launches. A
//   persistent kernel keeps them in registers for all time steps.
// Formula: non-persistent cells, at least 16 per step, with neighbouring GEMMs on the stream.
//   Recoverable = half of the time from the first to the last of a run, including idle time: a
//   rule of thumb, because published gains of persistent kernels at small batch are 2 to 3 times.
// Falsified by: large batches or hidden sizes, whose GEMMs fill the device; GEMMs over 100 us are
//   excluded.
// Known false positives: cells that cannot be merged (attention inside the loop, as in some decoders).
// Source: persistent RNN (Diamos et al. 2016); cuDNN's CUDNN_RNN_ALGO_PERSIST_STATIC and _SMALL_H.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using Ops = std::span<const trace::DeviceOpId>;

constexpr double kManyCells = 16;
constexpr DurationNs kLargeGemm{100'000};
constexpr std::size_t kReach = 6;  ///< kernels between two cells of one layer

struct Cells {
  DurationNs recoverable;
  DurationNs time;
  double cells = 0;
  std::vector<Evidence> evidence;
};

bool is_cell(const RuleContext& context, trace::DeviceOpId op) {
  KernelTraits traits = context.kernels.of(op);
  return traits.family == KernelFamily::kRecurrent && !traits.persistent;
}

bool is_large_gemm(const RuleContext& context, trace::DeviceOpId op) {
  return is_matrix_work(context.kernels.of(op).family) && duration(context, op) > kLargeGemm;
}

Cells measure(const RuleContext& context, const DevicePartition& device, const KernelWork& work) {
  Cells result;
  if (work.count(KernelFamily::kRecurrent) < kManyCells) return result;
  LongestEvidence longest;
  const trace::DeviceOps& all = context.trace.device_ops;
  std::int64_t steps = for_each_stream(context, device, [&](const DeviceStep&, Ops ops) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (!is_cell(context, ops[i])) continue;
      std::size_t last = i;
      std::int64_t cells = 1;
      for (std::size_t k = i + 1; k < ops.size() && k - last <= kReach; ++k) {
        if (is_large_gemm(context, ops[k])) break;
        if (!is_cell(context, ops[k])) continue;
        last = k;
        ++cells;
      }
      result.cells += static_cast<double>(cells);
      std::size_t first = i > 0 && !is_large_gemm(context, ops[i - 1]) &&
                                  context.kernels.of(ops[i - 1]).family == KernelFamily::kGemm
                              ? i - 1
                              : i;
      i = last;
      if (static_cast<double>(cells) < kManyCells) continue;
      Interval where{all.start[ops[first].value], all.end[ops[last].value]};
      result.time += where.length();
      if (longest.wants(where.length()))
        longest.add(where, ops[first], fmt::format("{} time steps, one kernel each", cells));
    }
  });
  if (steps == 0) return result;
  result.time = result.time / steps;
  result.recoverable = result.time / 2;
  result.cells /= static_cast<double>(steps);
  result.evidence = longest.take();
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, cells] = worst_device(context, [&](const DevicePartition& d, const KernelWork& w) {
    return measure(context, d, w);
  });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  DurationNs recurrent;
  DurationNs all;
  DurationNs unknown;
  for (const KernelWork& work : context.work) {
    recurrent += work.of(KernelFamily::kRecurrent);
    all += work.compute();
    unknown += work.of(KernelFamily::kUnknown);
  }
  if (ratio(cells.recoverable, context.step) < kFindingShare) {
    if (all.ns == 0 || ratio(unknown, all) > 0.5)
      return cannot_tell(rule, "Most kernel names are unknown.");
    return fine(rule, recurrent.ns == 0 ? "No recurrent layer ran."
                                        : fmt::format("Recurrent cells that run step by step: {}.",
                                                      of_step(context, cells.time, context.step)));
  }
  Finding finding = found(rule, cells.recoverable, context);
  finding.claim = fmt::format(
      "{:.0f} recurrent cells {} run one time step at a time, over {}. A persistent kernel takes "
      "about half at small batch sizes.",
      cells.cells, per_step(context), of_step(context, cells.time, context.step));
  finding.confidence = 0.5;
  finding.evidence = std::move(cells.evidence);
  finding.advice = {
      {"headway-train", "Run each recurrent layer as one kernel for all time steps.",
       "--rnn persistent", settings(context.trace, {"rnn"})},
      {"PyTorch",
       "Use the whole-sequence layer instead of a loop over cells. cuDNN's persistent kernel needs "
       "FP16, contiguous input and hidden sizes in multiples of 64 up to 1024.",
       "torch.nn.LSTM/GRU on packed sequences in torch.float16, torch.backends.cudnn.enabled=True",
       ""},
      {"TensorFlow/JAX", "Keep the layer's defaults, which select the cuDNN kernel.",
       "tf.keras.layers.LSTM(recurrent_dropout=0, unroll=False, use_bias=True)", ""}};
  return finding;
}

}  // namespace

extern const Rule kRnnNotPersistent = {"rnn-not-persistent", "Recurrent layer not persistent",
                                       "At least 16 recurrent cells run in a row as separate "
                                       "kernels; fusing them would save over 5 % of the step.",
                                       check};

}  // namespace headway::analyzer
