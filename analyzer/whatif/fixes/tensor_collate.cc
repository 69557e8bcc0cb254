// SPDX-License-Identifier: MIT
// Samples are put together as tensors, as PyTorch's own collate function does: one copy for each field of the batch.
#include <fmt/format.h>

#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Of torch.stack() on a processor: per byte, per tensor of the batch and per sample of each.
constexpr double kNsPerByte = 0.33;
constexpr double kNsPerTensor = 15e3;
constexpr double kNsPerSample = 1.5e3;
/// What takes less than so many times as long is put together well enough.
constexpr double kWorthIt = 3;
/// A function of the program's own may do more than putting together: padding, masks, mixing of samples.
constexpr double kOnlyPutsTogether = 0.6;

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
                         "tensor and 1.5 µs per sample and tensor.",
                         "other work in the collate function",
                         propose};

}  // namespace headway::analyzer
