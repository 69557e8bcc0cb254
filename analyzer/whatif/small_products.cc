// SPDX-License-Identifier: MIT
#include "analyzer/whatif/small_products.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/kernel_bound.h"

namespace headway::analyzer {

namespace {

/// Read rate of a multiprocessor alone, as a multiple of its share of the memory's rate. With 32 kB
/// in flight and 0.7 µs of latency it reads 46 GB/s; its share of an A100's memory rate is 14 GB/s.
constexpr double kAloneByShare = 3;

/// Recorded products with equal work per block, or a range of work over which the time did not
/// grow.
struct Seen {
  double least_work_ns = 0;
  double most_work_ns = 0;
  double sum_ns = 0;  ///< of their times beyond the shortest kernel
  double count = 0;

  double mean_ns() const { return sum_ns / count; }
};

/// Merges neighbours whose times fall with the work (pool adjacent violators).
std::vector<Seen> never_falling(const std::vector<Seen>& by_work) {
  std::vector<Seen> stretches;
  for (const Seen& next : by_work) {
    stretches.push_back(next);
    while (stretches.size() > 1) {
      const Seen& last = stretches.back();
      Seen& before = stretches[stretches.size() - 2];
      if (before.mean_ns() < last.mean_ns()) break;
      before.most_work_ns = last.most_work_ns;
      before.sum_ns += last.sum_ns;
      before.count += last.count;
      stretches.pop_back();
    }
  }
  return stretches;
}

}  // namespace

SmallProducts::SmallProducts(const Predictor& predictor, std::int32_t multiprocessors,
                             std::function<double(trace::DeviceOpId)> flops_per_s)
    : predictor_(predictor),
      multiprocessors_(multiprocessors),
      flops_per_s_(std::move(flops_per_s)),
      least_(shortest_kernel(predictor.trace().device_ops)),
      memory_(predictor) {
  const trace::DeviceOps& ops = predictor.trace().device_ops;
  std::map<KernelFamily, std::map<double, Seen>> seen;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const trace::DeviceOpId op{i};
    if (!is_small(op)) continue;
    any_ = true;
    const double work = work_of_block(op, 1, 1);
    const auto time = static_cast<double>((ops.interval(op).length() - least_).ns);
    if (const std::optional<Layer> layer = layer_of(op)) {
      std::int64_t& most = most_blocks_[*layer];
      most = std::max<std::int64_t>(most, ops.blocks[i]);
    }
    if (work <= 0 || time <= 0) continue;
    Seen& of_size = seen[predictor.kernels().of(op).family][work];
    of_size.least_work_ns = of_size.most_work_ns = work;
    of_size.sum_ns += time;
    ++of_size.count;
  }
  for (const auto& [family, by_work] : seen) {
    std::vector<Seen> sizes;
    for (const auto& [work, of_size] : by_work) sizes.push_back(of_size);
    Curve& curve = curves_[family];
    for (const Seen& one : never_falling(sizes)) {
      curve.push_back({one.least_work_ns, one.mean_ns()});
      if (one.most_work_ns > one.least_work_ns) curve.push_back({one.most_work_ns, one.mean_ns()});
    }
  }
}

bool SmallProducts::is_small(trace::DeviceOpId product) const {
  const std::int64_t blocks = predictor_.trace().device_ops.blocks[product.value];
  return blocks > 0 && blocks < multiprocessors_ &&
         is_matrix_work(predictor_.kernels().of(product).family);
}

double SmallProducts::work_of_block(trace::DeviceOpId product, double faster, double bytes) const {
  const KernelBound bound = bound_of(predictor_, product, flops_per_s_(product));
  if (!bound.known()) return 0;
  const double filled =
      static_cast<double>(predictor_.trace().device_ops.blocks[product.value]) / multiprocessors_;
  return std::max(bound.arithmetic_ns / faster / filled,
                  bound.memory_ns * bytes / std::min(1.0, kAloneByShare * filled));
}

double SmallProducts::within(const Curve& curve, double work_ns) {
  const auto above = std::ranges::lower_bound(curve, work_ns, {}, &Knot::work_ns);
  if (above == curve.begin()) return curve.front().time_ns;
  if (above == curve.end()) return curve.back().time_ns;
  const Knot& below = *std::prev(above);
  const double part = std::log(work_ns / below.work_ns) / std::log(above->work_ns / below.work_ns);
  return below.time_ns * std::pow(above->time_ns / below.time_ns, part);
}

double SmallProducts::slope(const Curve& curve, const Knot& end) {
  const bool at_front = &end == &curve.front();
  const double inside = at_front ? 2 * end.work_ns : end.work_ns / 2;
  const double known = std::min(1.0, std::log2(curve.back().work_ns / curve.front().work_ns));
  const double rise = std::abs(std::log2(within(curve, inside) / end.time_ns));
  // If the recorded sizes span less than a factor of two, a slope of 1/2 is assumed for the rest.
  return std::min(1.0, rise + (1 - known) / 2);
}

double SmallProducts::time_at(const Curve& curve, double work_ns, SmallProduct held_by) {
  const bool below = work_ns < curve.front().work_ns;
  if (!below && work_ns <= curve.back().work_ns) return within(curve, work_ns);
  const Knot& end = below ? curve.front() : curve.back();
  const double guess = held_by == SmallProduct::kLatency      ? 0
                       : held_by == SmallProduct::kArithmetic ? 1
                                                              : slope(curve, end);
  // The time that large products need for this work is not latency.
  const double by_work = std::max(guess, std::min(1.0, end.work_ns / end.time_ns));
  return end.time_ns * std::lerp(1.0, work_ns / end.work_ns, by_work);
}

std::optional<SmallProducts::Layer> SmallProducts::layer_of(trace::DeviceOpId product) const {
  const trace::Trace& trace = predictor_.trace();
  const Attribution& attribution = predictor_.analysis().attribution;
  const trace::GraphOpId node = attribution.ops[attribution.op_of[product.value].value].graph_op;
  if (!node.valid()) return std::nullopt;
  const trace::GraphOp& op = trace.graph_ops[node.value];
  return Layer{op.process.value, op.forward_op >= 0 ? op.forward_op : op.op};
}

std::int64_t SmallProducts::most_blocks(trace::DeviceOpId product) const {
  const std::optional<Layer> layer = layer_of(product);
  return layer ? most_blocks_.at(*layer) : predictor_.trace().device_ops.blocks[product.value];
}

std::optional<double> SmallProducts::on_slower_units(trace::DeviceOpId product,
                                                     const KernelBound& bound, double faster,
                                                     double time_now, SmallProduct held_by) const {
  if (faster >= 1) return std::nullopt;
  const double filled = std::min(1.0, static_cast<double>(most_blocks(product)) / multiprocessors_);
  const double then = bound.arithmetic_ns / faster / filled;
  const double now = work_of_block(product, 1, 1);
  if (then <= now) return std::nullopt;
  const double hidden = std::max(time_now, then) / time_now;
  const double added = (time_now + then - now) / time_now;
  switch (held_by) {
    case SmallProduct::kLatency:
      return hidden;
    case SmallProduct::kArithmetic:
      return then / now;
    case SmallProduct::kEither:
      break;
  }
  return std::midpoint(hidden, added);
}

std::optional<double> SmallProducts::share_left(trace::DeviceOpId product, double faster,
                                                double bytes, SmallProduct held_by) const {
  const KernelBound bound = bound_of(predictor_, product, flops_per_s_(product));
  if (!bound.known()) return std::nullopt;
  const auto curve = curves_.find(predictor_.kernels().of(product).family);
  if (!is_small(product) || curve == curves_.end()) {
    const trace::DeviceOps& ops = predictor_.trace().device_ops;
    const auto working = static_cast<double>((ops.interval(product).length() - least_).ns);
    const trace::DeviceId device =
        predictor_.trace().streams[ops.stream[product.value].value].device;
    const double memory =
        memory_.least_ns(device, bytes * static_cast<double>(ops.bytes[product.value]));
    const double least = working > 0 ? std::min(bytes > 1 ? bytes : 1.0, memory / working) : 0;
    return std::max(bound.share_left(faster, bytes, working), least);
  }
  const double now = work_of_block(product, 1, 1);
  const double then = work_of_block(product, faster, bytes);
  const double time_now = time_at(curve->second, now, held_by);
  if (const auto slower = on_slower_units(product, bound, faster, time_now, held_by)) return slower;
  const double seen = time_at(curve->second, then, held_by) / time_now;
  switch (held_by) {
    case SmallProduct::kLatency:
      return std::midpoint(seen, 1.0);
    case SmallProduct::kArithmetic:
      return std::midpoint(seen, then / now);
    case SmallProduct::kEither:
      break;
  }
  return seen;
}

std::vector<SmallProduct> SmallProducts::ends() const {
  if (!any_) return {};
  return {SmallProduct::kLatency, SmallProduct::kArithmetic};
}

}  // namespace headway::analyzer
