// SPDX-License-Identifier: MIT
// Runs of memory-bound kernels on a stream become one kernel that reads and writes each tensor once.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// What one kernel can hold.
constexpr std::size_t kLongestChain = 8;

bool reduces(KernelFamily family) {
  return family == KernelFamily::kNormalisation || family == KernelFamily::kSoftmax ||
         family == KernelFamily::kReduction;
}

struct Sums {
  std::int64_t chains = 0;
  std::int64_t kernels = 0;
};

/// The chain takes as long as its longest kernel: that one reads and writes the data once.
void fuse(const DeviceOps& ops, std::span<const DeviceOpId> chain, Editor& editor, Sums& sums) {
  if (chain.size() < 2) return;
  DeviceOpId longest = chain.front();
  for (DeviceOpId op : chain) {
    if (ops.interval(op).length() > ops.interval(longest).length()) longest = op;
  }
  for (DeviceOpId op : chain) {
    if (op != longest) editor.drop_op(op);
  }
  ++sums.chains;
  sums.kernels += static_cast<std::int64_t>(chain.size());
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Attribution& attribution = predictor.analysis().attribution;
  Editor editor(predictor);
  Sums sums;
  std::vector<DeviceOpId> chain;
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    bool reduced = false;
    auto close = [&] {
      fuse(ops, chain, editor, sums);
      chain.clear();
      reduced = false;
    };
    for (DeviceOpId op : trace.ops_of_stream[StreamId{s}]) {
      if (ops.kind[op.value] == DeviceOpKind::kMemset) continue;
      KernelTraits traits = predictor.kernels().of(op);
      bool moves = traits.family == KernelFamily::kLayoutTransform ||
                   traits.family == KernelFamily::kCast || traits.family == KernelFamily::kFillCopy;
      Phase phase = attribution.phase_of[op.value];
      if (!is_fusible(traits.family) || (moves && !traits.framework) || phase == Phase::kUpdate) {
        close();
        continue;
      }
      if (chain.size() == kLongestChain || (reduced && reduces(traits.family)) ||
          (!chain.empty() && attribution.phase_of[chain.front().value] != phase))
        close();
      chain.push_back(op);
      reduced |= reduces(traits.family);
    }
    close();
  }
  if (sums.chains == 0) return not_here("no memory-bound kernels follow one another");
  return {true,
          fmt::format("{} kernels in {} runs become one kernel each", sums.kernels, sums.chains),
          editor.take()};
}

}  // namespace

const Fix kFuseChains{"fuse-chains",
                      "Fuse runs of memory-bound kernels",
                      "unfused-elementwise",
                      FixKind::kModelled,
                      0.3,
                      "--fused-bn on, --graph-compiler on",
                      "Of each run, at most eight kernels with at most one reduction, the longest "
                      "kernel stays; the others and their launches go away.",
                      "which intermediate results another op needs as well",
                      propose};

}  // namespace headway::analyzer
