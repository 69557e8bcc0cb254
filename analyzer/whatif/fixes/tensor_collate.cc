// SPDX-License-Identifier: MIT
// Samples are collated as tensors, as in PyTorch's own collate function: one copy for each field
// of the batch.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/evidence/hand_over.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// Times of torch.stack() on a CPU: per byte, per tensor of the batch and per sample of each
/// tensor.
constexpr double kNsPerByte = 0.33;
constexpr double kNsPerTensor = 15e3;
constexpr double kNsPerSample = 1.5e3;
/// Collating must take at least this many times as long to be worth a fix.
constexpr double kWorthIt = 3;
/// Certainty: a collate function of the program may do more, such as padding, masks or mixing of
/// samples.
constexpr double kOnlyPutsTogether = 0.6;

/// A Python thread releases the interpreter lock after 5 ms (sys.getswitchinterval()) or when it
/// blocks. A worker's thread that sends a finished batch waits up to this long for the thread that
/// collates the next batch in Python.
constexpr double kSwitchIntervalNs = 5e6;
constexpr std::size_t kFewest = 8;

/// Median arrival time in ns of batches that were ready; nothing if there are few.
std::optional<double> arrival_when_ready(const trace::Trace& trace) {
  std::map<std::int64_t, TimeNs> made;
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{r});
    if (info && info->kind == trace::RangeKind::kBatch && info->batch >= 0)
      made[info->batch] = trace.ranges.end[r];
  }
  std::vector<double> waits;
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{r});
    if (!info || info->kind != trace::RangeKind::kInputWait) continue;
    const auto its = made.find(info->batch);
    const Interval wait = trace.ranges.interval(trace::RangeId{r});
    if (its != made.end() && its->second < wait.begin)
      waits.push_back(static_cast<double>(wait.length().ns));
  }
  if (waits.size() < kFewest) return std::nullopt;
  return median(waits);
}

/// Shortens the arrival of ready batches, because the worker holds Python's lock for less time.
void send_at_once(const Predictor& predictor, DurationNs collate_now, DurationNs collate_then,
                  Scenario& scenario) {
  const std::optional<double> now = arrival_when_ready(predictor.trace());
  const RuleContext context = rule_context(predictor);
  const DurationNs sent = hand_over(context, processors_wanted(context)) + collate_then;
  if (!now || sent.ns <= 0 || *now <= static_cast<double>(sent.ns)) return;
  const double locked =
      std::min(kSwitchIntervalNs, static_cast<double>((collate_now - collate_then).ns));
  const double left = 1 - std::min(*now - static_cast<double>(sent.ns), locked) / *now;
  for (std::size_t p = 0; p < predictor.parts().size(); ++p) {
    const Part& part = predictor.parts()[p];
    const bool waits = part.kind == Part::Kind::kDelay && part.time_class == TimeClass::kInputOther;
    if (waits) scenario.scale(PartId::from(p), left);
  }
}

Proposal propose(const Predictor& predictor) {
  const trace::Trace& trace = predictor.trace();
  const StageTime collate = time_of_stage(trace, trace::RangeKind::kCollate);
  const std::optional<DataSet> data = data_set(trace);
  if (collate.ranges == 0 || !data)
    return not_here("no range marks collation, or the batch size is unknown");
  const auto tensors = static_cast<double>(tensors_of_batch(trace));
  const DurationNs plain{static_cast<std::int64_t>(
      static_cast<double>(data->batch_bytes) * kNsPerByte +
      tensors * (kNsPerTensor + static_cast<double>(data->batch) * kNsPerSample))};
  const DurationNs now = collate.time / collate.ranges;
  const std::string times =
      fmt::format("collating a batch of {} takes {}, with tensors {}",
                  format_bytes(data->batch_bytes), format_duration(now), format_duration(plain));
  if (static_cast<double>(now.ns) < kWorthIt * static_cast<double>(plain.ns))
    return not_here(times);
  Proposal proposal{true, times, {}};
  scale_stage(predictor, trace::RangeKind::kCollate, ratio(plain, now), proposal.scenario);
  Scenario as_late = proposal.scenario;
  send_at_once(predictor, now, plain, proposal.scenario);
  if (!proposal.scenario.factor.empty() && proposal.scenario.factor != as_late.factor)
    proposal.otherwise.push_back(std::move(as_late));
  proposal.certainty = kOnlyPutsTogether;
  return proposal;
}

}  // namespace

const Fix kTensorCollate{"tensor-collate",
                         "Collate batches as tensors",
                         "input-bound, workers-starved",
                         FixKind::kModelled,
                         0.2,
                         "",
                         "Collation takes the time of torch.stack(): 0.33 ns per byte, 15 µs per "
                         "tensor and 1.5 µs per sample and tensor. Ready batches that arrive late, "
                         "as the worker keeps Python's lock for up to 5 ms while it "
                         "collates the next one, arrive at once.",
                         "other work in the collate function",
                         propose};

}  // namespace headway::analyzer
