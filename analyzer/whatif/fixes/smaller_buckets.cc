// SPDX-License-Identifier: MIT
// Gradients are sent in more and smaller messages: the first is sent while other gradients are
// still computed, and less remains to send when the last one is ready.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/refilled_buckets.h"
#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Bucket sizes in MiB, tried in this order as long as they gain.
constexpr std::array<int, 4> kSizes = {50, 25, 10, 5};

/// The first bucket stays as it is.
BucketSizes sizes_of(const Trace& trace, const std::vector<Transfer>& messages, int mib) {
  constexpr double kMiB = 1 << 20;
  return {std::min<double>(mib, gradient_bytes(trace, messages.front()) / kMiB),
          static_cast<double>(mib)};
}

Proposal propose(const Predictor& predictor) {
  const std::vector<std::vector<Transfer>> all = stages_of_exchange(predictor);
  if (all.empty()) return not_here("no gradient exchange of known size was recorded");
  if (all.front().front().kind == "reduce")
    return not_here("messages from a parameter server are not split");
  std::vector<TransferModel> models;
  for (const std::vector<Transfer>& stage : all) {
    if (stage.front().ranks != 1 && !stage.front().matched)
      return not_here("the all-reduces were not matched between ranks: record all of them");
    models.push_back(model_transfers(predictor, stage));
  }
  std::optional<RefilledBuckets> best;
  int chosen = 0;
  DurationNs step;
  for (const int mib : kSizes) {
    RefilledBuckets its =
        refill_buckets(predictor, all, models, sizes_of(predictor.trace(), all.front(), mib),
                       UnknownGradients::kComeEvenly);
    if (its.messages <= its.recorded) continue;
    const DurationNs then = predictor.predict(its.scenario).step;
    if (best && then >= step) break;
    best = std::move(its);
    step = then;
    chosen = mib;
  }
  if (!best)
    return not_here(fmt::format(
        "no message of gradients that could go in parts is larger than {} MiB", kSizes.back()));
  Proposal proposal{
      true,
      fmt::format("{} messages per step become {} of about {} MiB: {}{}", best->recorded_per_step(),
                  best->per_step(), chosen, models.front().text,
                  best->evenly ? "; gradients are taken to come as evenly as kernels run" : ""),
      std::move(best->scenario)};
  proposal.setting = fmt::format("--bucket-mb {}", chosen);
  for (const bool bytes : {true, false}) {
    if (std::ranges::all_of(models, [](const TransferModel& one) { return one.ends.empty(); }))
      break;
    std::vector<TransferModel> ends = models;
    for (TransferModel& model : ends)
      model.line = TransferLine(bytes ? model.most_bytes() : model.most_latency());
    proposal.otherwise.push_back(refill_buckets(predictor, all, ends,
                                                sizes_of(predictor.trace(), all.front(), chosen),
                                                UnknownGradients::kComeEvenly)
                                     .scenario);
  }
  return proposal;
}

}  // namespace

const Fix kSmallerBuckets{
    "smaller-buckets",
    "Exchange gradients in smaller buckets",
    "comm-exposed, comm-slow-link, comm-not-overlapped",
    FixKind::kModelled,
    0.3,
    "--bucket-mb 25",
    "Large gradient messages are split into buckets of 50, 25, 10 or 5 MiB. Each starts "
    "when its last gradient is ready, and takes latency + bytes / bandwidth, fitted to "
    "the recorded messages. Gradients left after the backward pass form one bucket.",
    "whether the library switches algorithms for smaller messages",
    propose};

}  // namespace headway::analyzer
