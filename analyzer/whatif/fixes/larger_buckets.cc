// SPDX-License-Identifier: MIT
// Gradients are sent in few large messages: they fill buckets one after the other, and a bucket
// is sent when its last gradient is ready.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/refilled_buckets.h"
#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// The defaults of PyTorch's DistributedDataParallel and of headway-train. A small first bucket
/// starts early. Where the size is set, PyTorch makes the first bucket as large as the others.
constexpr BucketSizes kUsual{1, 25};
/// Other sizes of the first bucket. Where nothing computes beside a small one, it is only one more
/// message.
constexpr std::array kFirst{2.0, 25.0};
/// Larger sizes of the others, where messages are that large.
constexpr std::array kLarger{50.0, 100.0};
/// Large messages use the links better; small ones leave less for the time after the backward pass.
/// If no larger ones are better, these sizes of the others are tried in this order as long as they gain.
constexpr std::array kSmaller{10.0, 5.0, 2.0, 1.0};

/// Other sizes than the usual ones must gain more than this share of the step.
constexpr double kWorthIt = 0.01;

/// Why the messages are already large. The size of a compressed message does not show that of its
/// gradients, but the program's setting does.
std::string why_large_already(const Trace& trace, const std::vector<Transfer>& messages) {
  const std::string_view compressed = trace.setting("compress");
  const bool known =
      std::ranges::all_of(messages, [](const Transfer& one) { return one.gradients > 0; });
  if (known || compressed.empty() || compressed == "none" || compressed == "fp16") return {};
  const std::string_view size = trace.setting("bucket_mb");
  double recorded = 0;
  std::from_chars(size.data(), size.data() + size.size(), recorded);
  return recorded >= kUsual.others ? fmt::format("buckets are already {} MiB", size) : "";
}

/// The first bucket's size in MiB that the program sets; 0: not known.
double first_bucket_set(const Trace& trace) {
  const std::string_view text = trace.setting("first_bucket_mb");
  double size = 0;
  std::from_chars(text.data(), text.data() + text.size(), size);
  return size;
}

/// What a guess of when gradients are ready gains is no gain of larger buckets.
constexpr UnknownGradients kUnknown = UnknownGradients::kStayTogether;

/// Looks for the best sizes.
class Search {
 public:
  Search(const Predictor& predictor, const std::vector<std::vector<Transfer>>& all,
         const std::vector<TransferModel>& models)
      : predictor_(predictor), all_(all), models_(models) {}

  /// Takes the sizes if they gain more than the best so far, by more than the share `least` of the
  /// step. Never sizes that would cut a message at an unknown place, or that send more messages.
  bool take(const BucketSizes& sizes, double least = 0) {
    RefilledBuckets its = refill_buckets(predictor_, all_, models_, sizes, kUnknown);
    // A step at the end of a recording may include a message of the neighbouring step.
    const std::int64_t fewer = its.recorded - its.messages;
    const bool more = 2 * fewer < -its.steps;
    const bool as_many = 2 * fewer < its.steps;
    if (its.scenario.edits.empty() || its.is_uncut() || more || its.bytes == bytes_) return false;
    if (as_many && sizes.first == kUsual.first) return false;
    bytes_ = its.bytes;
    const DurationNs step = predictor_.predict(its.scenario).step;
    if (best_ && ratio(step_ - step, step_) <= least) return false;
    best_ = std::move(its);
    sizes_ = sizes;
    step_ = step;
    return true;
  }

  bool found() const { return best_.has_value(); }
  const RefilledBuckets& best() const { return *best_; }
  const BucketSizes& sizes() const { return sizes_; }

 private:
  const Predictor& predictor_;
  const std::vector<std::vector<Transfer>>& all_;
  const std::vector<TransferModel>& models_;
  std::optional<RefilledBuckets> best_;
  BucketSizes sizes_;
  DurationNs step_;
  std::vector<double> bytes_;  ///< of the sizes tried last
};

/// What the messages of `all` are called.
std::string_view name_of(const std::vector<std::vector<Transfer>>& all) {
  const std::string_view kind = all.front().front().kind;
  if (all.size() > 1) return kind == "allreduce" ? "multi-round sums" : "hierarchical sums";
  return kind == "allgather" ? "all-gathers"
         : kind == "reduce"  ? "reductions to one rank"
                             : "all-reduces";
}

Proposal propose(const Predictor& predictor) {
  const std::vector<std::vector<Transfer>> all = stages_of_exchange(predictor);
  if (all.empty()) return not_here("no gradient exchange of known size was recorded");
  if (const std::string why = why_large_already(predictor.trace(), all.front()); !why.empty())
    return not_here(why);
  std::vector<TransferModel> models;
  for (const std::vector<Transfer>& stage : all) {
    const bool alone = stage.front().ranks == 1;  // between the nodes of a job that has one
    if (!alone && !stage.front().matched)
      return not_here("the all-reduces were not matched between ranks: record all of them");
    models.push_back(model_transfers(predictor, stage));
    if (!alone && !models.back().told_apart)
      return not_here(
          "all messages have one size, so latency and bandwidth cannot be separated; run `headway "
          "calibrate` on that machine to measure them");
  }
  Search search(predictor, all, models);
  const bool one_size = predictor.analysis().program.uses(Framework::kPyTorch);
  search.take(kUsual);
  if (const double first = first_bucket_set(predictor.trace()); first > 0 && first < kUsual.first)
    search.take({first, kUsual.others});
  for (const double first : kFirst)
    if (!one_size || first == kUsual.others) search.take({first, kUsual.others}, kWorthIt);
  const double best_first = search.found() ? search.sizes().first : kUsual.others;
  const auto sizes_with = [&](double others) {
    const bool alike = one_size || best_first == kUsual.others;
    return BucketSizes{alike ? others : std::min(best_first, others), others};
  };
  bool larger = false;
  for (const double others : kLarger) larger |= search.take(sizes_with(others), kWorthIt);
  if (search.found() && !larger)
    for (const double others : kSmaller) search.take(sizes_with(others));
  if (!search.found())
    return not_here(
        fmt::format("no two messages of a step fit into one bucket of {} MiB", kLarger.back()));
  const RefilledBuckets& best = search.best();
  const BucketSizes& sizes = search.sizes();
  Proposal proposal{true,
                    fmt::format("{} {} per step become {}: {}", best.recorded_per_step(),
                                name_of(all), best.per_step(), models.front().text),
                    best.scenario};
  proposal.setting = fmt::format("--bucket-mb {} --first-bucket-mb {}", sizes.others, sizes.first);
  if (std::ranges::any_of(models, [](const TransferModel& model) { return !model.ends.empty(); })) {
    for (const bool bytes : {true, false}) {
      std::vector<TransferModel> ends = models;
      for (TransferModel& model : ends)
        model.line = TransferLine(bytes ? model.most_bytes() : model.most_latency());
      proposal.otherwise.push_back(refill_buckets(predictor, all, ends, sizes, kUnknown).scenario);
    }
  }
  if (best.goes_beyond)
    proposal.otherwise.push_back(
        refill_buckets(predictor, all, models, sizes, kUnknown, Beyond::kHalf).scenario);
  return proposal;
}

}  // namespace

const Fix kLargerBuckets{
    "larger-buckets",
    "Exchange gradients in larger buckets",
    "unbucketed-collectives, comm-too-small, comm-exposed",
    FixKind::kModelled,
    0.1,
    "--bucket-mb 25 --first-bucket-mb 1",
    "A step's all-reduces, or stages of its sums, fill buckets: the first of 1 MiB, of its smaller "
    "set size, or of 2 or 25 MiB if better, the others of 25 MiB or a better size from 1 to 100. "
    "PyTorch has one size for all. A bucket starts with its last gradient. It takes latency + "
    "bytes / bandwidth, fitted to the recorded ones. It has one pack and one unpack kernel.",
    "whether the library switches algorithms for larger messages",
    propose};

}  // namespace headway::analyzer
