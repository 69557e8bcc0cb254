// SPDX-License-Identifier: MIT
// expert-imbalance: some ranks' experts get more tokens, and all ranks wait for them.
//
// Symptom: the all-to-alls that return tokens from experts are long on all ranks but one, a
//   different one per layer.
// Mechanism: a router sends each token to preferred experts, and each rank has different experts.
//   One rank computes the tokens of a popular expert while the others wait in the next all-to-all,
//   in every layer, forward and backward.
// Formula: a step's all-to-alls come in pairs; a rank's work is the time between the two.
//   Recoverable = exposed waiting in the second one, mean over ranks, times the share of (longest
//   - mean) work beyond the slowest rank's excess outside the pairs. Needs no common clock.
// Falsified by: ranks equally uneven outside the pairs (straggler, uneven-batches), or even
//   inside.
// Known false positives: all-to-alls around attention of long sequences (Ulysses), where sequences
//   differ by rank. Compute on another stream during the experts' work counts as theirs.
// Source: Switch Transformers (Fedus et al. 2021) and its auxiliary loss; DeepSeek-V3's balancing without one.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/expert_regions.h"
#include "analyzer/evidence/support.h"
#include "analyzer/ranks/job.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// In how many expert layers the same rank is always the busiest, and which ranks those are.
std::string busiest_ranks(const ExpertBalance& balance) {
  constexpr double kAlways = 0.9;
  std::map<std::int32_t, int> of_rank;
  std::size_t steady = 0;
  for (const ExpertBalance::Busiest& one : balance.busiest) {
    if (one.share < kAlways) continue;
    ++steady;
    ++of_rank[one.rank];
  }
  if (steady == 0) return "The busiest rank changes from step to step.";
  const std::string where = fmt::format("in {} of {} expert layers", steady, balance.layers);
  if (of_rank.size() == 1)
    return fmt::format("Rank {} is the busiest in every step {}.", of_rank.begin()->first, where);
  return fmt::format("The busiest rank is the same in every step {}; {} ranks share these layers.",
                     where, of_rank.size());
}

std::vector<Evidence> evidence_of(const RuleContext& context) {
  const DevicePartition* device = worst_share(context, {TimeClass::kStragglerWait}).device;
  if (!device) return {};
  return longest_segments(context, *device, {TimeClass::kStragglerWait}, communication_note);
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (!context.job) return needs_all_ranks(rule, context);
  const ExpertBalance balance = find_expert_balance(context);
  if (balance.layers == 0)
    return fine(rule, "No step has paired all-to-alls: no expert parallelism.");
  const std::string checked = fmt::format(
      "Between token all-to-alls, the busiest rank takes {:.2f} times the mean ({} against {} per "
      "step, in {} expert layers)",
      balance.factor(), format_duration(balance.most), format_duration(balance.mean),
      balance.layers);
  if (ratio(balance.uneven, context.step) < kFindingShare)
    return fine(rule, fmt::format("{}; other ranks wait {}.", checked,
                                  of_step(context, balance.uneven, context.step)));
  Finding finding = found(rule, balance.uneven, context);
  finding.claim = fmt::format(
      "{}. Elsewhere the slowest rank computes {} longer than the mean. The ranks wait {} for "
      "experts with more tokens. {}",
      checked, format_percent(balance.usual), of_step(context, balance.uneven, context.step),
      busiest_ranks(balance));
  finding.confidence = 0.9;
  finding.evidence = evidence_of(context);
  finding.advice = {
      {"headway-train", "Make the router send every expert the same number of tokens.",
       "--router-imbalance 1",
       settings(context.trace, {"router_imbalance", "experts", "expert_choices"})},
      {"PyTorch",
       "Balance the experts: raise the auxiliary loss, or add a load-based bias to the router "
       "scores. A capacity limit drops excess tokens. For inference, replicate popular experts on "
       "other ranks.",
       "Megatron: --moe-aux-loss-coeff, --moe-router-enable-expert-bias, "
       "--moe-expert-capacity-factor; DeepSpeed: MoE(capacity_factor=…, drop_tokens=True); "
       "vLLM: --enable-eplb",
       ""},
      {"TensorFlow/JAX", "Balance the experts with a larger auxiliary loss, or a capacity limit.",
       "the layer's load-balancing loss weight and capacity factor", ""}};
  return finding;
}

}  // namespace

extern const Rule kExpertImbalance = {
    "expert-imbalance", "Unequal token counts per expert",
    "Waiting for ranks with overloaded experts takes over 5 % of the step.", check, true};

}  // namespace headway::analyzer
