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

/// Largest number of kernels that are fused into one.
constexpr std::size_t kLongestChain = 16;

struct Sums {
  std::int64_t chains = 0;
  std::int64_t kernels = 0;
  std::int64_t riding = 0;  ///< kernels that go into products
};

/// Fuses a chain into one kernel. Its time beyond the shortest kernel's is proportional to the
/// bytes that still move; if these are not known, it takes as long as the chain's longest kernel,
/// which reads and writes the data once.
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

/// By op: true if it is part of an unfused attention, which is a separate cause with its own fix.
std::vector<bool> in_attentions(const Predictor& predictor) {
  std::vector<bool> inside(predictor.trace().device_ops.size());
  for (const Attention& one : find_attentions(predictor))
    for (DeviceOpId op : one.kernels) inside[op.value] = true;
  return inside;
}

/// The chain that is being collected on a stream.
struct Chain {
  std::vector<DeviceOpId> ops;
  bool rows = false;         ///< one of them reduces rows
  bool normalises = false;   ///< one of them is a normalisation
  bool reduced = false;      ///< one of them reduces; whether rows or columns is not known
  std::size_t columns = 0;   ///< number of ops up to and with the last one that sums columns
  bool by_compiler = false;  ///< a kernel that a compiler generated follows
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
      // Hand-written kernels of a layer fuse more than a compiler: the sums for a normalisation's
      // scale and shift read the same tensors as the gradient of its input. Two kernels remain, one
      // that sums columns and one that reduces rows.
      if (traits.family == KernelFamily::kFused && chain.columns > 0 &&
          chain.columns == chain.ops.size() && goes_on) {
        chain.ops.push_back(op);
        chain.columns = chain.ops.size();
        chain.by_compiler = true;
      }
      // A loss picks a value from each row of a softmax's result; its gradient is one value in each
      // row. So it can be fused with the softmax.
      const bool picks = traits.family == KernelFamily::kLoss &&
                         ((goes_on && tensors.reads(op, chain.ops.back())) ||
                          (i + 1 < of_stream.size() && tensors.reads(of_stream[i + 1], op)));
      // A kernel that writes a tensor can also round it.
      const bool rounds =
          traits.family == KernelFamily::kCast && goes_on && tensors.reads(op, chain.ops.back());
      if (!(can_fuse(traits) || picks || rounds) || phase == Phase::kUpdate) {
        // A library's normalisation is fused with the compiler's kernel after it, but not with the
        // one before it: hand-written kernels do not include an add of gradients before an
        // activation's gradient.
        const bool after = traits.family == KernelFamily::kFused && goes_on && chain.normalises &&
                           chain.columns == 0 && tensors.reads(op, chain.ops.back());
        if (after) chain.ops.push_back(op);
        close();
        continue;
      }
      const std::optional<bool> of_rows = tensors.is_of_rows(op);
      // Sums of columns divide the work differently from reductions of rows, but they can be fused
      // with elementwise kernels before them.
      const bool columns = traits.family == KernelFamily::kReduction && of_rows == false;
      const bool reduction = reduces(traits.family) && !columns && of_rows != true;
      const bool alone = !(goes_on && tensors.reads(op, chain.ops.back())) &&
                         !(i + 1 < of_stream.size() && tensors.reads(of_stream[i + 1], op) &&
                           can_fuse(predictor.kernels().of(of_stream[i + 1])));
      // A product that reads the same gradient can sum its columns at no cost.
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
