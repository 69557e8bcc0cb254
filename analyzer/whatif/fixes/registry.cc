// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/loader_pools.h"

namespace headway::analyzer {

std::span<const Fix* const> all_fixes() {
  static constexpr std::array kFixes = {
      &kFreeInput,
      &kUseWorkers,
      &kMoreWorkers,
      &kFewerWorkers,
      &kNoWorkers,
      &kDeeperPrefetch,
      &kPersistentWorkers,
      &kDecodeOffline,
      &kAugmentOnDevice,
      &kPackFiles,
      &kSamplesInMemory,
      &kTensorCollate,
      &kOverlapCopies,
      &kPinnedCopies,
      &kRemoveSyncs,
      &kDeferredRead,
      &kRunAhead,
      &kCudaGraph,
      &kFreeHost,
      &kFuseChains,
      &kMultiTensorOptimizer,
      &kFusedUpdate,
      &kTensorCores,
      &kHalfPrecision,
      &kInferIn16Bits,
      &kInferInInt8,
      &kInferenceEngine,
      &kPadShapes,
      &kSplitK,
      &kNoLayoutChanges,
      &kHalfThroughout,
      &kNoLossScaling,
      &kLeaveMixedPrecision,
      &kNoCasts,
      &kCachingAllocator,
      &kBatchSamples,
      &kStayOnDevice,
      &kKeepActivations,
      &kLessPadding,
      &kLargerBatch,
      &kFullClock,
      &kEagerLoading,
      &kEvaluateLessOften,
      &kAsynchronousCheckpoint,
      &kCheckpointLessOften,
      &kLogLessOften,
      &kNoGarbageCollection,
      &kKeepFreedMemory,
      &kNoPauses,
      &kKeepKeysAndValues,
      &kStepsAsAtFirst,
      &kUsualSteps,
      &kMoreMicroBatches,
      &kFewerMicroBatches,
      &kPrefetchAllGathers,
      &kExchangeOnce,
      &kOverlapCommunication,
      &kEvenExperts,
      &kEvenRanks,
      &kLargerBuckets,
      &kSmallerBuckets,
      &kCompressGradients,
      &kSumIn16Bits,
      &kHierarchicalAllReduce,
      &kFlatAllReduce,
      &kRingAllReduce,
      &kPersistentRnn,
      &kFusedAttention,
      &kFasterGradients,
  };
  return kFixes;
}

std::span<const Fix* const> fixes_on_request() {
  static constexpr std::array kFixes = {
      &kCompressTo8Bits,    &kSendLargestGradients, &kLowRankGradients,   &kGradientsAsSigns,
      &kAverageEvery2Steps, &kAverageEvery4Steps,   &kAverageEvery8Steps,
  };
  return kFixes;
}

bool answers(const Fix& fix, std::string_view rule) {
  for (std::string_view rest = fix.rule; !rest.empty();) {
    const std::size_t comma = rest.find(", ");
    if (rest.substr(0, comma) == rule) return true;
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 2);
  }
  return false;
}

const Fix* find_fix(std::string_view id) {
  for (const std::span<const Fix* const> list : {all_fixes(), fixes_on_request()}) {
    for (const Fix* fix : list)
      if (fix->id == id) return fix;
  }
  return nullptr;
}

std::vector<std::string> fix_ids() {
  std::vector<std::string> ids;
  for (const std::span<const Fix* const> list : {all_fixes(), fixes_on_request()})
    for (const Fix* fix : list) ids.emplace_back(fix->id);
  return ids;
}

std::string_view fix_kind_id(FixKind kind) {
  switch (kind) {
    case FixKind::kStructural:
      return "structural";
    case FixKind::kModelled:
      return "modelled";
    case FixKind::kCeiling:
      return "ceiling";
  }
  return "modelled";
}

Proposer::Proposer(const Predictor& predictor)
    : predictor_(predictor), storage_(least_for_storage(predictor)) {}

Proposal Proposer::of(const Fix& fix) const {
  static constexpr std::array kOfInput = {"input-bound", "slow-storage", "small-files",
                                          "workers-starved", "workers-oversubscribed"};
  Proposal proposal = fix.propose(predictor_);
  const bool input =
      std::ranges::any_of(kOfInput, [&](std::string_view rule) { return answers(fix, rule); });
  // Fixes that change the input or the samples per step have their own bound for the storage.
  if (!proposal.applies || input || proposal.scenario.work != 1) return proposal;
  proposal.scenario.at_least = std::max(proposal.scenario.at_least, storage_);
  for (Scenario& other : proposal.otherwise) other.at_least = std::max(other.at_least, storage_);
  return proposal;
}

}  // namespace headway::analyzer
