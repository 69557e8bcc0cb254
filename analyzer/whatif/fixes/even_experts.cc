// SPDX-License-Identifier: MIT
// The router sends all experts as many tokens: between the all-to-alls of a layer every rank's kernels take what they take on
// average. The all-to-alls last as long as the rank with most tokens needs; time = fixed + rate · work of that rank, as
// times the mean, fitted over the layers where they differ; else the start of
// all-reduces is taken to be fixed, or half, where nothing tells it.
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

/// Ranks whose longest is within this of the mean are even: independent choices of tokens scatter as much.
constexpr double kEven = 1.02;
/// Layers tell how a transfer follows the work where what the rank with most has differs by so many times the mean.
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

/// What a layer's all-to-all takes once all ranks are there: the least of them.
double transfer_ns(const DeviceOps& ops, const Layer& layer, DeviceOpId ExpertPart::*which) {
  double least = INFINITY;
  for (const ExpertPart& one : *layer.parts)
    least = std::min(least, static_cast<double>(ops.interval(one.*which).length().ns));
  return least;
}

/// Layers with as many kernels do the same work: forward passes, or backward passes.
using Alike = std::map<std::size_t, std::vector<const Layer*>>;

Alike alike(const std::vector<Layer>& layers) {
  Alike result;
  for (const Layer& layer : layers) result[layer.parts->front().kernels.size()].push_back(&layer);
  return result;
}

/// By how much a transfer takes longer for each time the mean that the rank with most has, in ns; none where all layers of a
/// kind are alike.
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

/// All-to-alls last as long as one with the mean. Where layers do not tell, `fixed` of their time stays, at most half.
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
  // Sums of gradients pass on more often than an all-to-all: it starts at least as soon.
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
