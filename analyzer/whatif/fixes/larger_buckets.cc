// SPDX-License-Identifier: MIT
// Gradients are sent in few large messages: they fill buckets one after the other, and a bucket
// is sent when its last gradient is ready.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include "analyzer/evidence/early_exchanges.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_rates.h"
#include "analyzer/whatif/overlap_slowdown.h"
#include "analyzer/whatif/step_exchange.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Bucket sizes in MiB.
struct BucketSizes {
  double first;
  int others;
};
/// The defaults of PyTorch's DistributedDataParallel and of headway-train. A small first bucket
/// starts early. If the size is set, PyTorch makes the first bucket as large as the others.
constexpr BucketSizes kUsual{1, 25};
constexpr BucketSizes kAllLarge{25, 25};
/// Large messages use the links better; small ones leave less for the time after the backward pass.
/// If a small first bucket is better, these sizes of the others are tried in this order as long as
/// they gain.
constexpr std::array kSmaller{10, 5, 2, 1};

/// Least share of the step that another first bucket than the usual one must gain.
constexpr double kWorthIt = 0.01;

using Ops = std::vector<DeviceOpId>;

/// Indexes of the transfers that share a bucket: [begin, end).
struct Bucket {
  std::size_t begin;
  std::size_t end;
};

bool has_larger(const std::vector<Transfer>& messages, const BucketSizes& sizes) {
  constexpr double kMiB = 1 << 20;
  return std::ranges::any_of(messages, [&](const Transfer& one) {
    return std::max(one.gradients, one.bytes) > kMiB * sizes.others;
  });
}

/// Assigns transfers to buckets by the uncompressed bytes of gradients. `compressed`: compression
/// factor, by which the sent bytes are smaller. Each of the backward `passes` has its own buckets.
std::vector<Bucket> fill_buckets(const std::vector<Transfer>& transfers, std::size_t passes,
                                 double compressed, const BucketSizes& sizes) {
  constexpr double kMiB = 1 << 20;
  const std::size_t of_pass = transfers.size() / passes;
  std::vector<Bucket> buckets;
  double bytes = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    bytes += transfers[i].gradients > 0 ? transfers[i].gradients : compressed * transfers[i].bytes;
    const bool is_first = begin % of_pass == 0;
    const double size = kMiB * (is_first ? sizes.first : sizes.others);
    if (bytes < size && (i + 1) % of_pass != 0) continue;
    buckets.push_back({begin, i + 1});
    begin = i + 1;
    bytes = 0;
  }
  return buckets;
}

/// By partition: number of backward passes of a step that exchange gradients.
std::vector<std::size_t> passes_that_exchange(const Predictor& predictor) {
  std::vector<std::size_t> passes;
  for (const EarlyExchanges& its :
       find_early_exchanges(rule_context(predictor), predictor.analysis().partitions))
    passes.push_back(its.sums.empty() ? 1 : static_cast<std::size_t>(its.passes));
  return passes;
}

/// Time of a byte beyond the largest recorded message: as before, or half of it by another protocol
/// of the library. The recording does not show where that protocol begins.
enum class Beyond : std::uint8_t { kAlike, kHalf };

class Merger {
 public:
  Merger(const Predictor& predictor, const BucketSizes& sizes, Beyond beyond)
      : predictor_(predictor),
        sizes_(sizes),
        beyond_(beyond),
        least_(shortest_kernel(predictor.trace().device_ops)),
        compressed_(predictor.trace().setting("compress") == "fp16" ? 2 : 1),
        editor_(predictor) {}

  /// Joins the transfers of a step on one stream. `stages`: lists of equal length; `models`: one
  /// for each stage. Returns true if any were joined.
  bool merge(const std::vector<std::vector<Transfer>>& stages,
             const std::vector<TransferModel>& models, Interval step, std::size_t passes) {
    const Trace& trace = predictor_.trace();
    const std::vector<Transfer>& first = stages.front();
    const StreamId stream = trace.device_ops.stream[first.front().op.value];
    const auto beside = companions(predictor_, stream, step, first.size());
    bool any = false;
    if (first.size() % passes != 0) passes = 1;
    for (const Bucket& bucket : fill_buckets(first, passes, compressed_, sizes_)) {
      ++messages_;
      if (bucket.end - bucket.begin < 2) continue;
      any = true;
      const bool waits = !waits_before(trace, first[bucket.end - 1].op).empty();
      for (std::size_t i = bucket.begin; waits && i + 1 < bucket.end; ++i)
        for (CallId call : waits_before(trace, first[i].op)) editor_.drop_call(call);
      for (std::size_t s = 0; s < stages.size(); ++s) merge(stages[s], models[s], bucket);
      for (const Ops& its : beside)
        merge_kernels({its.begin() + static_cast<std::ptrdiff_t>(bucket.begin),
                       its.begin() + static_cast<std::ptrdiff_t>(bucket.end)});
    }
    return any;
  }

  /// Shortens kernels that overlap communication, by the share of the device's transfers that was
  /// removed.
  void relieve(DeviceId device) {
    if (before_.ns > 0)
      slow_down_less(predictor_, device, std::clamp(1 - ratio(after_, before_), 0.0, 1.0), editor_);
  }

  bool empty() const { return editor_.empty(); }
  bool goes_beyond() const { return goes_beyond_; }
  Scenario take() { return editor_.take(); }
  std::int64_t messages() const { return messages_; }

 private:
  void merge(const std::vector<Transfer>& transfers, const TransferModel& model,
             const Bucket& bucket) {
    double bytes = 0;
    for (std::size_t i = bucket.begin; i < bucket.end; ++i) {
      bytes += transfers[i].bytes;
      before_ += DurationNs{std::llround(transfers[i].ns)};
      if (i + 1 < bucket.end) editor_.drop_collective(transfers[i].op);
    }
    double ns = model.line.of(bytes);
    if (model.may_go_faster_beyond() && bytes > model.largest) {
      goes_beyond_ = true;
      if (beyond_ == Beyond::kHalf) ns -= model.line.per_byte * (bytes - model.largest) / 2;
    }
    const Transfer& last = transfers[bucket.end - 1];
    editor_.set_transfer(last.op, {std::llround(last.wait + ns)}, true);
    after_ += DurationNs{std::llround(ns)};
  }

  /// Merges the kernels into the last one. Its time beyond the shortest kernel's is the sum of
  /// theirs, or the time of their bytes at the memory's rate if that is known and less (small
  /// kernels leave most of a device idle).
  void merge_kernels(const Ops& kernels) {
    const DeviceOps& ops = predictor_.trace().device_ops;
    DurationNs data;
    std::int64_t bytes = 0;
    bool known = true;
    for (DeviceOpId op : kernels) {
      data += ops.interval(op).length() - least_;
      bytes += ops.bytes[op.value];
      known &= ops.bytes[op.value] > 0;
      if (op != kernels.back()) editor_.drop_op(op);
    }
    const StreamId stream = ops.stream[kernels.back().value];
    const double rate =
        memory_bytes_per_ns(predictor_, predictor_.trace().streams[stream.value].device);
    if (known && rate > 0)
      data = std::min(data, DurationNs{std::llround(static_cast<double>(bytes) / rate)});
    editor_.set_duration(predictor_.program().graph().points().task(kernels.back()), least_ + data,
                         true);
  }

  const Predictor& predictor_;
  const BucketSizes sizes_;
  const Beyond beyond_;
  const DurationNs least_;
  const double compressed_;
  Editor editor_;
  std::int64_t messages_ = 0;
  bool goes_beyond_ = false;
  DurationNs before_;  // transfers that share a bucket, added up
  DurationNs after_;
};

struct InBuckets {
  Proposal proposal;
  bool goes_beyond = false;  ///< messages become larger than any that was recorded
};

InBuckets in_buckets(const Predictor& predictor, const std::vector<std::vector<Transfer>>& all,
                     const std::vector<TransferModel>& models,
                     const std::vector<std::size_t>& passes, const BucketSizes& bucket_sizes,
                     Beyond beyond = Beyond::kAlike) {
  Merger merger(predictor, bucket_sizes, beyond);
  std::int64_t before = 0;
  std::int64_t steps = 0;
  std::int64_t merged = 0;
  const std::vector<DevicePartition>& partitions = predictor.analysis().partitions;
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    const DevicePartition& partition = partitions[p];
    if (!partition.device.valid()) continue;
    for_each_step_exchange(predictor, partition, all, [&](const StepStages& stages, Interval step) {
      merged += merger.merge(stages, models, step, passes[p]);
      before += std::ssize(stages.front());
      ++steps;
    });
    merger.relieve(partition.device);
  }
  // A step at the end of a recording may include a message of the neighbouring step.
  if (merger.empty() || 2 * merged < steps)
    return {not_here("no two messages of a step fit into one 25 MiB bucket")};
  Proposal proposal{
      true,
      fmt::format("{} {} per step become {}: {}", before / steps,
                  all.size() > 1 && all.front().front().kind == "allreduce" ? "multi-round sums"
                  : all.size() > 1                                          ? "hierarchical sums"
                  : all.front().front().kind == "allgather"                 ? "all-gathers"
                  : all.front().front().kind == "reduce" ? "reductions to one rank"
                                                         : "all-reduces",
                  (merger.messages() + steps - 1) / steps, models.front().text),
      merger.take()};
  proposal.setting =
      fmt::format("--bucket-mb {} --first-bucket-mb {}", bucket_sizes.others, bucket_sizes.first);
  return {std::move(proposal), merger.goes_beyond()};
}

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
  const std::vector<std::size_t> passes = passes_that_exchange(predictor);
  auto step_with = [&](const InBuckets& its) {
    return predictor.predict(its.proposal.scenario).step;
  };
  BucketSizes chosen = kUsual;
  InBuckets best = in_buckets(predictor, all, models, passes, chosen);
  if (const double first = first_bucket_set(predictor.trace()); first > 0 && first < chosen.first) {
    const BucketSizes kept{first, kUsual.others};
    InBuckets other = in_buckets(predictor, all, models, passes, kept);
    if (other.proposal.applies && (!best.proposal.applies || step_with(other) < step_with(best))) {
      chosen = kept;
      best = std::move(other);
    }
  }
  InBuckets all_large = in_buckets(predictor, all, models, passes, kAllLarge);
  if (!best.proposal.applies) {
    if (!all_large.proposal.applies) return all_large.proposal;
    // Buckets of this size would split a larger message of several gradients, not join it with the
    // small first one.
    if (has_larger(all.front(), kAllLarge) && kSmallerBuckets.propose(predictor).applies)
      return not_here("a message is larger than a 25 MiB bucket");
    chosen = kAllLarge;
    best = std::move(all_large);
  } else if (DurationNs step = step_with(best);
             all_large.proposal.applies && ratio(step - step_with(all_large), step) >= kWorthIt) {
    // No compute overlaps a small first bucket, so it is only one more message.
    chosen = kAllLarge;
    best = std::move(all_large);
  } else {
    for (const int others : kSmaller) {
      const BucketSizes sizes{chosen.first, others};
      InBuckets other = in_buckets(predictor, all, models, passes, sizes);
      if (!other.proposal.applies) break;
      const DurationNs its = step_with(other);
      if (its > step) break;
      if (its == step) continue;  // the same buckets
      step = its;
      best = std::move(other);
      chosen = sizes;
    }
  }
  if (std::ranges::any_of(models, [](const TransferModel& model) { return !model.ends.empty(); })) {
    for (const bool bytes : {true, false}) {
      std::vector<TransferModel> ends = models;
      for (TransferModel& model : ends)
        model.line = TransferLine(bytes ? model.most_bytes() : model.most_latency());
      best.proposal.otherwise.push_back(
          in_buckets(predictor, all, ends, passes, chosen).proposal.scenario);
    }
  }
  if (best.goes_beyond)
    best.proposal.otherwise.push_back(
        in_buckets(predictor, all, models, passes, chosen, Beyond::kHalf).proposal.scenario);
  return best.proposal;
}

}  // namespace

const Fix kLargerBuckets{
    "larger-buckets",
    "Exchange gradients in larger buckets",
    "unbucketed-collectives, comm-too-small, comm-exposed",
    FixKind::kModelled,
    0.1,
    "--bucket-mb 25 --first-bucket-mb 1",
    "A step's all-reduces, or stages of its sums, fill buckets: the first of "
    "1 MiB, of its smaller set size or of 25 MiB where that is better, the others of 25 MiB or a "
    "better smaller size. A bucket starts "
    "with its last gradient and takes latency + bytes / bandwidth, fitted to "
    "the recorded ones. Each bucket has one pack and one unpack kernel.",
    "whether the library switches algorithms for larger messages",
    propose};

}  // namespace headway::analyzer
