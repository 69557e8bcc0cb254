// SPDX-License-Identifier: MIT
// Runs of memory-bound kernels on a stream become one kernel that reads and writes each tensor once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/attentions.h"
#include "analyzer/whatif/fixes/chain_tensors.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/counted.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// What one kernel can hold.
constexpr std::size_t kLongestChain = 16;

struct Sums {
  std::int64_t chains = 0;
  std::int64_t kernels = 0;
  std::int64_t riding = 0;  ///< kernels that go into products
};

/// By the tensors that are left to move, beyond what a kernel takes at least; where they are not known, as
/// long as the longest kernel of the chain: that one reads and writes the data once.
void fuse(const DeviceOps& ops, const ChainTensors& tensors, DurationNs least,
          std::span<const DeviceOpId> chain, Editor& editor, Sums& sums, bool last_apart = false) {
  if (chain.size() < 2) return;
  DurationNs longest;
  DurationNs sum;
  for (DeviceOpId op : chain) {
    longest = std::max(longest, ops.interval(op).length());
    sum += ops.interval(op).length();
  }
  DurationNs fused = longest;
  const auto joined = tensors.joined(chain);
  if (joined) {
    const DurationNs moving = sum - least * static_cast<std::int64_t>(chain.size());
    fused = least * (last_apart ? 2 : 1) +
            DurationNs{std::llround(joined->share * static_cast<double>(moving.ns))};
  }
  editor.join(chain.first(chain.size() - (last_apart ? 1 : 0)),
              joined ? std::optional(joined->inner) : std::nullopt);
  for (DeviceOpId op : chain) {
    const double own = static_cast<double>(ops.interval(op).length().ns);
    editor.set_op(op, {std::llround(own * ratio(fused, sum))}, true);
  }
  ++sums.chains;
  sums.kernels += static_cast<std::int64_t>(chain.size());
}

/// By op: whether it is part of an attention in parts. That is a cause of its own, whose remedy is one kernel for all of it.
std::vector<bool> in_attentions(const Predictor& predictor) {
  std::vector<bool> inside(predictor.trace().device_ops.size());
  for (const Attention& one : find_attentions(predictor))
    for (DeviceOpId op : one.kernels) inside[op.value] = true;
  return inside;
}

/// A run that is being read off a stream.
struct Chain {
  std::vector<DeviceOpId> ops;
  bool rows = false;         ///< one of them reduces rows
  bool normalises = false;   ///< one of them is a normalisation
  bool reduced = false;      ///< one of them reduces, nothing tells how
  std::size_t columns = 0;   ///< so many of them up to and with the last one that sums columns
  bool by_compiler = false;  ///< then comes one that a compiler made
};

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Attribution& attribution = predictor.analysis().attribution;
  Editor editor(predictor);
  Sums sums;
  const ChainTensors tensors(predictor);
  const DurationNs least = shortest_kernel(ops);
  const std::vector<bool> apart = in_attentions(predictor);
  Chain chain;
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    auto close_columns = [&] {
      fuse(ops, tensors, least, std::span(chain.ops).first(chain.columns), editor, sums,
           chain.by_compiler);
      chain.ops.erase(chain.ops.begin(),
                      chain.ops.begin() + static_cast<std::ptrdiff_t>(chain.columns));
      chain.columns = 0;
    };
    auto close = [&] {
      close_columns();
      fuse(ops, tensors, least, chain.ops, editor, sums);
      chain = {};
    };
    const auto of_stream = trace.ops_of_stream[StreamId{s}];
    for (std::size_t i = 0; i < of_stream.size(); ++i) {
      const DeviceOpId op = of_stream[i];
      if (ops.kind[op.value] == DeviceOpKind::kMemset) continue;
      if (apart[op.value]) {
        close();
        continue;
      }
      KernelTraits traits = predictor.kernels().of(op);
      Phase phase = attribution.phase_of[op.value];
      const bool goes_on =
          !chain.ops.empty() && attribution.phase_of[chain.ops.front().value] == phase;
      // What a compiler left apart, kernels written for the layer share: sums for a normalisation's scale and shift
      // read what the gradient of its input is made of. They stay two, of columns and of rows.
      if (traits.family == KernelFamily::kFused && chain.columns > 0 &&
          chain.columns == chain.ops.size() && goes_on) {
        chain.ops.push_back(op);
        chain.columns = chain.ops.size();
        chain.by_compiler = true;
      }
      // A loss picks from each row of what a softmax has just made of it, and its gradient is one value of each row.
      const bool picks = traits.family == KernelFamily::kLoss &&
                         ((goes_on && tensors.reads(op, chain.ops.back())) ||
                          (i + 1 < of_stream.size() && tensors.reads(of_stream[i + 1], op)));
      // Whoever writes a tensor can round it on the way.
      const bool rounds =
          traits.family == KernelFamily::kCast && goes_on && tensors.reads(op, chain.ops.back());
      if (!(can_fuse(traits) || picks || rounds) || phase == Phase::kUpdate) {
        // A normalisation that the compiler had to call goes with what it made of the ops behind it. Not with what comes
        // before it: of an add and an activation's gradient, kernels written for the layer leave the add.
        const bool after = traits.family == KernelFamily::kFused && goes_on && chain.normalises &&
                           chain.columns == 0 && tensors.reads(op, chain.ops.back());
        if (after) chain.ops.push_back(op);
        close();
        continue;
      }
      const std::optional<bool> of_rows = tensors.is_of_rows(op);
      // Sums of columns need another division of the work than what reduces rows, but go together with what is
      // computed element by element before them.
      const bool columns = traits.family == KernelFamily::kReduction && of_rows == false;
      const bool reduction = reduces(traits.family) && !columns && of_rows != true;
      const bool alone = !(goes_on && tensors.reads(op, chain.ops.back())) &&
                         !(i + 1 < of_stream.size() && tensors.reads(of_stream[i + 1], op) &&
                           can_fuse(predictor.kernels().of(of_stream[i + 1])));
      // A product that reads the same gradient sums its columns for nothing; whatever made it would have to sum them itself.
      const bool may_ride =
          columns || (alone && !reduces(traits.family) && !moves_data(traits.family));
      if (may_ride && tensors.rides_on_product(op, columns)) {
        editor.drop_op(op);
        ++sums.riding;
        continue;
      }
      if (chain.ops.size() == kLongestChain || (chain.reduced && reduction) ||
          (columns && (chain.reduced || chain.rows)) || (!chain.ops.empty() && !goes_on))
        close();
      if (reduction || of_rows == true) close_columns();
      const bool normalises = traits.family == KernelFamily::kNormalisation;
      chain.ops.push_back(op);
      chain.normalises |= normalises;
      chain.rows |= of_rows == true;
      chain.reduced |= reduction;
      if (columns) chain.columns = chain.ops.size();
    }
    close();
  }
  if (sums.chains + sums.riding == 0) return not_here("no memory-bound kernels run in a row");
  std::string what;
  if (sums.chains > 0)
    what = fmt::format("{} kernels in {} runs become one kernel each", sums.kernels, sums.chains);
  if (sums.riding > 0)
    what += fmt::format("{}{} merge into the product before or after them",
                        what.empty() ? "" : ", ", counted(sums.riding, "kernel", "kernels"));
  return {true, std::move(what), editor.take()};
}

}  // namespace

const Fix kFuseChains{
    "fuse-chains",
    "Fuse runs of memory-bound kernels",
    "unfused-elementwise",
    FixKind::kModelled,
    0.5,
    "--fused-bn on, --graph-compiler on",
    "A run of up to 16 kernels with one reduction, or several over the same axis, becomes one "
    "launch that reads each tensor once and writes only what other ops read. A cast of what the "
    "run has just written is part of it. Column sums share their inputs with a compiler's "
    "following kernel. A bias and its gradient merge into matrix "
    "products. Without an op graph, a run takes its longest kernel's time.",
    "whether a compiler finds the same runs",
    propose};

}  // namespace headway::analyzer
