// SPDX-License-Identifier: MIT
// The router sends all experts equally many tokens: between the all-to-alls of a layer, every
// rank's kernels take the mean time. An all-to-all lasts as long as the rank with most tokens
// needs: time = fixed + rate · (work of that rank / mean work), fitted over layers if these
// differ. Else the fixed part is the start of all-reduces, or half of the time if that is not
// known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/expert_layers.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Ranks are even if the longest is at most this multiple of the mean: independent choices of
/// tokens scatter as much.
constexpr double kEven = 1.02;
/// Layers show how a transfer depends on the work if their largest work, as a multiple of the mean,
/// differs by this much.
constexpr double kDiffers = 0.1;

struct Layer {
  const std::vector<ExpertPart>* parts = nullptr;
  double mean = 0;  ///< of the ranks' work, in ns
  double most = 0;

  double factor() const { return most / mean; }
};

std::vector<Layer> layers_of(const std::vector<std::vector<ExpertPart>>& all) {
  std::vector<Layer> layers;
  for (const std::vector<ExpertPart>& parts : all) {
    Layer layer{&parts};
    for (const ExpertPart& one : parts) {
      layer.mean += static_cast<double>(one.time.ns) / static_cast<double>(parts.size());
      layer.most = std::max(layer.most, static_cast<double>(one.time.ns));
    }
    if (layer.mean > 0) layers.push_back(layer);
  }
  return layers;
}

/// Transfer time of a layer's all-to-all after all ranks arrived: the shortest duration of any
/// rank.
double transfer_ns(const DeviceOps& ops, const Layer& layer, DeviceOpId ExpertPart::*which) {
  double least = INFINITY;
  for (const ExpertPart& one : *layer.parts)
    least = std::min(least, static_cast<double>(ops.interval(one.*which).length().ns));
  return least;
}

/// Layers by their number of kernels: equal numbers mean the same kind of work (forward or
/// backward).
using Alike = std::map<std::size_t, std::vector<const Layer*>>;

Alike alike(const std::vector<Layer>& layers) {
  Alike result;
  for (const Layer& layer : layers) result[layer.parts->front().kernels.size()].push_back(&layer);
  return result;
}

/// Growth of a transfer in ns, per multiple of the mean work that the rank with most has; none if
/// all layers of a kind are alike.
std::optional<double> rate_of(const DeviceOps& ops, const std::vector<Layer>& layers,
                              DeviceOpId ExpertPart::*which) {
  bool differ = false;
  double xx = 0;
  double xy = 0;
  for (const auto& [kernels, its] : alike(layers)) {
    const auto [least, most] = std::ranges::minmax(its, {}, &Layer::factor);
    differ |= most->factor() - least->factor() >= kDiffers;
    double x = 0;
    double y = 0;
    for (const Layer* layer : its) {
      x += layer->factor() / static_cast<double>(its.size());
      y += transfer_ns(ops, *layer, which) / static_cast<double>(its.size());
    }
    for (const Layer* layer : its) {
      xx += (layer->factor() - x) * (layer->factor() - x);
      xy += (layer->factor() - x) * (transfer_ns(ops, *layer, which) - y);
    }
  }
  if (!differ) return std::nullopt;
  return std::max(0.0, xy / xx);
}

void make_even(const Predictor& predictor, const Layer& layer, Editor& editor) {
  const Points& points = predictor.program().graph().points();
  const DeviceOps& ops = predictor.trace().device_ops;
  for (const ExpertPart& one : *layer.parts) {
    const double by = one.time.ns > 0 ? layer.mean / static_cast<double>(one.time.ns) : 1;
    for (DeviceOpId op : one.kernels) {
      const auto own = static_cast<double>(ops.interval(op).length().ns);
      editor.set_duration(points.task(op), {std::llround(by * own)}, true);
    }
  }
}

/// Shortens all-to-alls to the time of one with mean work. If layers show no rate, `fixed` of their
/// time stays, at most half of it.
void shorten(const std::vector<Layer>& layers, DeviceOpId ExpertPart::*which, double fixed,
             const DeviceOps& ops, Editor& editor) {
  const std::optional<double> rate = rate_of(ops, layers, which);
  for (const Layer& layer : layers) {
    const double now = transfer_ns(ops, layer, which);
    const double stays = std::min(fixed, now / 2);
    const double saved =
        rate ? *rate * (layer.factor() - 1) : (now - stays) * (1 - 1 / layer.factor());
    for (const ExpertPart& one : *layer.parts)
      editor.set_transfer(one.*which, {std::llround(std::max(0.0, now - saved))}, true);
  }
}

Proposal propose(const Predictor& predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const auto all = expert_layers(predictor);
  const std::vector<Layer> layers = layers_of(all);
  if (layers.empty()) return not_here("no expert parallelism in this recording");
  double mean = 0;
  double most = 0;
  for (const Layer& layer : layers) {
    mean += layer.mean;
    most += layer.most;
  }
  if (most < kEven * mean)
    return not_here(fmt::format("the rank with most tokens takes {} longer than the mean",
                                format_percent(most / mean - 1)));
  // An all-reduce has more hops than an all-to-all, so its start is an upper limit.
  const TransferModel sums = model_transfers(predictor, main_all_reduces(predictor));
  const double start = sums.told_apart ? sums.line.fixed : INFINITY;
  auto scenario = [&](double fixed) {
    Editor editor(predictor);
    for (const Layer& layer : layers) make_even(predictor, layer, editor);
    for (const auto which : {&ExpertPart::brings, &ExpertPart::takes})
      shorten(layers, which, fixed, ops, editor);
    return editor.take();
  };
  Proposal proposal{
      true,
      fmt::format("each rank's experts take the mean, {} less than the busiest rank per layer",
                  format_percent(1 - mean / most)),
      scenario(start)};
  const bool fitted = rate_of(ops, layers, &ExpertPart::brings).has_value();
  if (!fitted) proposal.otherwise = {scenario(0), scenario(INFINITY)};
  return proposal;
}

}  // namespace

const Fix kEvenExperts{"even-experts",
                       "Balance tokens over the experts",
                       "expert-imbalance",
                       FixKind::kModelled,
                       0.1,
                       "--router-imbalance 1",
                       "Expert kernels between all-to-alls take the mean over ranks. The "
                       "all-to-alls lose the extra time that the most loaded rank causes.",
                       "whether the router can balance tokens, and the effect on the model",
                       propose,
                       true};

}  // namespace headway::analyzer
