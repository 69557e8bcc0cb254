// SPDX-License-Identifier: MIT
// A pipeline uses half as many micro batches of twice the size. The first half of the passes and
// their messages double in size, and the second half is removed. This keeps the order of a
// schedule with that number of micro batches (for example, one forward pass ahead for each later
// stage); removing every second pass would not.
#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>

#include "analyzer/evidence/pipeline.h"
#include "analyzer/evidence/product_waves.h"
#include "analyzer/whatif/batch_growth.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

class FewerParts {
 public:
  FewerParts(const Predictor& predictor, std::int64_t micro_batches, BytesTake take)
      : predictor_(predictor),
        take_(take),
        ops_(predictor.trace().device_ops),
        growth_(predictor, kTailCosts),
        micro_batches_(micro_batches),
        editor_(predictor) {}

  /// False if the micro batch of kernels is not known.
  bool edit() {
    std::set<DeviceOpId> messages;
    for (const Collective& one : predictor_.trace().collectives) {
      if (!one.op.valid() || !is_point_to_point(predictor_.trace().strings[one.kind])) continue;
      const std::int64_t batch = ops_.batch[one.op.value];
      if (batch < 0) return false;
      messages.insert(one.op);
      // Messages of the first half have twice the bytes; the others are dropped.
      if (is_gone(batch))
        editor_.drop_message(one.op);
      else
        editor_.scale_message(one, 2, take_);
    }
    bool any = false;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      const DeviceOpId op{i};
      const Phase phase = predictor_.analysis().attribution.phase_of[i];
      if (ops_.kind[i] != DeviceOpKind::kKernel || phase == Phase::kUpdate ||
          messages.contains(op) ||
          predictor_.analysis().attribution.class_of[i] == TimeClass::kCommTransfer)
        continue;
      if (ops_.batch[i] < 0) continue;
      any = true;
      if (is_gone(ops_.batch[i]))
        editor_.drop_op(op);
      else if (!adds_up_gradients(op, phase))
        editor_.set_duration(predictor_.program().graph().points().task(op), growth_.doubled(op),
                             true);
    }
    return any;
  }
  Scenario take() { return editor_.take(); }

 private:
  /// True for a micro batch of the second half, whose samples join one of the first half.
  bool is_gone(std::int64_t batch) const { return batch % micro_batches_ >= micro_batches_ / 2; }

  /// True if the op adds up gradients, which takes the same time for any size of micro batch.
  bool adds_up_gradients(DeviceOpId op, Phase phase) const {
    return phase == Phase::kBackward && ops_.op[op.value] < 0 &&
           !predictor_.trace().graph_ops.empty();
  }

  const Predictor& predictor_;
  const BytesTake take_;
  const DeviceOps& ops_;
  const BatchGrowth growth_;
  const std::int64_t micro_batches_;
  Editor editor_;
};

Proposal propose(const Predictor& predictor) {
  const Pipeline pipeline = find_pipeline(rule_context(predictor));
  if (const std::string_view why = why_not_whole(pipeline); !why.empty())
    return not_here(std::string(why));
  const auto micro_batches = static_cast<std::int64_t>(std::llround(pipeline.micro_batches));
  if (micro_batches < 2 || micro_batches % 2 != 0)
    return not_here(
        fmt::format("{} micro batches cannot be merged in pairs", format_count(micro_batches)));
  auto of = [&](BytesTake take) {
    FewerParts parts(predictor, micro_batches, take);
    return parts.edit() ? parts.take() : Scenario();
  };
  Scenario likely = of(BytesTake::kLikely);
  if (likely.edits.empty()) return not_here("no micro batch is known for any kernel");
  Proposal proposal{true,
                    fmt::format("{} micro batches on {} stages become {} of twice the size",
                                micro_batches, pipeline.stages.size(), micro_batches / 2),
                    std::move(likely)};
  for (const BytesTake take : {BytesTake::kLeast, BytesTake::kMost})
    proposal.otherwise.push_back(of(take));
  proposal.setting = fmt::format("--micro-batches {}", micro_batches / 2);
  return proposal;
}

}  // namespace

const Fix kFewerMicroBatches{
    "fewer-micro-batches",
    "Use half as many micro batches",
    "launch-bound, pipeline-bubble",
    FixKind::kModelled,
    0.2,
    "--micro-batches",
    "Two passes of a stage merge into one with larger kernels. A message carries twice the bytes; "
    "gradients accumulate half as often. The update stays.",
    "whether memory holds micro batches of twice the size",
    propose};

}  // namespace headway::analyzer
