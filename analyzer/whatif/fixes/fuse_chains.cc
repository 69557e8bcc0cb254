// SPDX-License-Identifier: MIT
// Runs of memory-bound kernels on a stream become one kernel that reads and writes each tensor once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/counted.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// What one kernel can hold.
constexpr std::size_t kLongestChain = 16;

bool reduces(KernelFamily family) {
  return family == KernelFamily::kNormalisation || family == KernelFamily::kSoftmax ||
         family == KernelFamily::kReduction;
}

struct Sums {
  std::int64_t chains = 0;
  std::int64_t kernels = 0;
  std::int64_t riding = 0;  ///< kernels that go into products
};

/// A tensor that is so much smaller than another one costs a kernel nothing to read besides.
constexpr double kSmall = 0.1;

/// What the op graph says of the tensors of a chain.
class Tensors {
 public:
  explicit Tensors(const Predictor& predictor) : predictor_(predictor) {
    const std::vector<GraphOp>& all = predictor.trace().graph_ops;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      producer_[{all[i].process.value, all[i].op}] = i;
      for (std::int64_t input : all[i].inputs) ++readers_[{all[i].process.value, input}];
    }
    if (all.empty()) return;
    const Attribution& attribution = predictor.analysis().attribution;
    std::vector<bool> seen(attribution.ops.size());
    for (std::uint32_t i = 0; i < predictor.trace().device_ops.size(); ++i) {
      const std::uint32_t model = attribution.op_of[i].value;
      if (seen[model] || predictor.kernels().of(DeviceOpId{i}).family != KernelFamily::kGemm)
        continue;
      seen[model] = true;
      const GraphOp* graph = graph_of(DeviceOpId{i});
      if (!graph) continue;
      products_.insert({graph->process.value, graph->op});
      for (std::int64_t input : graph->inputs)
        readers_of_product_.insert({graph->process.value, input});
    }
  }

  /// Whether `reader` reads what `op` writes; false where that is not known.
  bool reads(DeviceOpId reader, DeviceOpId op) const {
    const GraphOp* a = graph_of(reader);
    const GraphOp* b = graph_of(op);
    return a && b && a->process == b->process &&
           std::ranges::find(a->inputs, b->op) != a->inputs.end();
  }

  /// Whether a product can do it while it has the numbers at hand: add to its result what is much smaller (a bias), or
  /// sum up the columns of what it reads (the bias' gradient). Libraries call it an epilogue.
  bool rides_on_product(DeviceOpId op, bool sums_columns) const {
    const GraphOp* graph = graph_of(op);
    if (!graph || !(sums_columns || graph->type.find("add") != std::string::npos)) return false;
    for (std::int64_t input : graph->inputs) {
      const Key key{graph->process.value, input};
      const auto made = producer_.find(key);
      if (made == producer_.end()) continue;
      if (sums_columns) {
        if (readers_of_product_.contains(key)) return true;
        continue;
      }
      const auto bytes =
          static_cast<double>(predictor_.trace().graph_ops[made->second].output_bytes);
      const bool alone = products_.contains(key) && readers_.at(key) == 1;
      if (alone && static_cast<double>(graph->bytes) <=
                       bytes + static_cast<double>(graph->output_bytes) + kSmall * bytes)
        return true;
    }
    return false;
  }

  /// Whether the op sums up or averages each row of its input (shapes end with the row's length, here 1):
  /// such a kernel can go on with its row, so several fit into one. Nothing where that is not known.
  std::optional<bool> is_of_rows(DeviceOpId op) const {
    const GraphOp* graph = graph_of(op);
    if (!graph) return std::nullopt;
    return graph->shape.ends_with("x1");
  }

  /// The share of its bytes that a chain still moves as one kernel: each input once, and no result that only
  /// the chain itself reads. Nothing where an op or its bytes are not known.
  std::optional<double> share_left(std::span<const DeviceOpId> chain) const {
    std::map<Key, int> reads;  // by the chain, of each tensor
    std::set<Key> written;
    double all = 0;
    for (DeviceOpId op : chain) {
      const GraphOp* graph = graph_of(op);
      if (!graph || graph->bytes <= 0) return std::nullopt;
      all += static_cast<double>(graph->bytes);
      for (std::int64_t input : graph->inputs) ++reads[{graph->process.value, input}];
      written.insert({graph->process.value, graph->op});
    }
    double saved = 0;
    for (const auto& [tensor, times] : reads) {
      const auto made = producer_.find(tensor);
      if (made == producer_.end()) continue;
      const auto bytes =
          static_cast<double>(predictor_.trace().graph_ops[made->second].output_bytes);
      const bool inner = written.contains(tensor);
      saved += bytes * (inner ? times : times - 1);
      if (inner && readers_.at(tensor) == times) saved += bytes;  // nor is it written
    }
    return std::max(0.0, 1 - saved / all);
  }

 private:
  using Key = std::pair<std::uint32_t, std::int64_t>;  // process, op
  const GraphOp* graph_of(DeviceOpId op) const {
    const Attribution& attribution = predictor_.analysis().attribution;
    const ModelOp& model = attribution.ops[attribution.op_of[op.value].value];
    return model.graph_op.valid() ? &predictor_.trace().graph_ops[model.graph_op.value] : nullptr;
  }

  const Predictor& predictor_;
  std::map<Key, std::uint32_t> producer_;
  std::map<Key, int> readers_;
  std::set<Key> products_;
  std::set<Key> readers_of_product_;  ///< tensors that a product reads
};

/// By the tensors that are left to move, beyond what a kernel takes at least; where they are not known, as
/// long as the longest kernel of the chain: that one reads and writes the data once.
void fuse(const DeviceOps& ops, const Tensors& tensors, DurationNs least,
          std::span<const DeviceOpId> chain, Editor& editor, Sums& sums, bool last_apart = false) {
  if (chain.size() < 2) return;
  DurationNs longest;
  DurationNs sum;
  for (DeviceOpId op : chain) {
    longest = std::max(longest, ops.interval(op).length());
    sum += ops.interval(op).length();
  }
  DurationNs fused = longest;
  if (const auto left = tensors.share_left(chain)) {
    const DurationNs moving = sum - least * static_cast<std::int64_t>(chain.size());
    fused = least * (last_apart ? 2 : 1) +
            DurationNs{std::llround(*left * static_cast<double>(moving.ns))};
  }
  editor.join(chain.first(chain.size() - (last_apart ? 1 : 0)));
  for (DeviceOpId op : chain) {
    const double own = static_cast<double>(ops.interval(op).length().ns);
    editor.set_op(op, {std::llround(own * ratio(fused, sum))}, true);
  }
  ++sums.chains;
  sums.kernels += static_cast<std::int64_t>(chain.size());
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
  const Tensors tensors(predictor);
  const DurationNs least = shortest_kernel(ops);
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
      KernelTraits traits = predictor.kernels().of(op);
      bool moves = traits.family == KernelFamily::kLayoutTransform ||
                   traits.family == KernelFamily::kCast || traits.family == KernelFamily::kFillCopy;
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
      if (!is_fusible(traits.family) || (moves && !traits.framework) || phase == Phase::kUpdate) {
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
                           is_fusible(predictor.kernels().of(of_stream[i + 1]).family));
      if (alone && (columns || !reduces(traits.family)) && !moves &&
          tensors.rides_on_product(op, columns)) {
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
  if (sums.chains + sums.riding == 0) return not_here("no memory-bound kernels follow one another");
  std::string what;
  if (sums.chains > 0)
    what = fmt::format("{} kernels in {} runs become one kernel each", sums.kernels, sums.chains);
  if (sums.riding > 0)
    what += fmt::format("{}{} become part of the product before or after them",
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
    "A run of at most 16 kernels with one reduction, several of rows or several of columns, is "
    "launched once, reads each tensor once and writes only what other ops read; a compiler's "
    "kernel that follows sums "
    "of columns shares what it reads with them; a bias behind a product and its gradient become "
    "part of products; without an op graph a run takes as long as its "
    "longest kernel.",
    "whether a compiler finds the same runs",
    propose};

}  // namespace headway::analyzer
