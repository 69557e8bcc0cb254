// SPDX-License-Identifier: MIT
#include "gui/models/flames/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/stats/summary.h"
#include "common/format.h"
#include "gui/models/flames/flame_builder.h"

namespace headway::gui {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::size_t kLookEvery = 1 << 16;

/// Computes how much of a time range lies in the steady steps of the host.
class SteadyTime {
 public:
  SteadyTime(const analyzer::Steps& steps, bool everything) : everything_(everything) {
    if (everything) return;
    std::vector<Interval> windows;
    for (std::uint32_t s : steps.steady) windows.push_back(steps.all[s].host);
    std::sort(windows.begin(), windows.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    for (const Interval& window : windows) {
      if (!windows_.empty() && window.begin < windows_.back().end) {
        windows_.back().end = std::max(windows_.back().end, window.end);
      } else {
        windows_.push_back(window);
      }
    }
    DurationNs sum;
    for (const Interval& window : windows_) {
      before_.push_back(sum);
      sum += window.length();
    }
  }

  DurationNs inside(Interval when) const {
    return everything_ ? when.length() : until(when.end) - until(when.begin);
  }

 private:
  DurationNs until(TimeNs t) const {
    auto after = std::upper_bound(windows_.begin(), windows_.end(), t,
                                  [](TimeNs x, const Interval& w) { return x < w.begin; });
    if (after == windows_.begin()) return {};
    std::size_t i = static_cast<std::size_t>(after - windows_.begin()) - 1;
    return before_[i] + (std::min(t, windows_[i].end) - windows_[i].begin);
  }

  bool everything_;
  std::vector<Interval> windows_;
  std::vector<DurationNs> before_;
};

class Builder {
 public:
  Builder(const trace::Trace& trace, const analyzer::Analysis& analysis)
      : trace_(trace), analysis_(analysis), flames_(trace, [](std::string_view name) {
          return analyzer::without_numbers(analyzer::without_numbering(name));
        }) {}

  void add_host(const SteadyTime& steady, const std::atomic<bool>* cancelled) {
    const trace::Ranges& ranges = trace_.ranges;
    std::vector<std::uint32_t> node_of(ranges.size(), kNone);
    for (std::uint32_t i = 0; i < ranges.size(); ++i) {
      if (i % kLookEvery == 0 && cancelled && *cancelled) return;
      constexpr std::uint8_t kOutside = trace::Ranges::kMark | trace::Ranges::kStartEnd;
      if (ranges.flags[i] & kOutside || flames_.is_device_range({i})) continue;
      DurationNs inside = steady.inside(ranges.interval({i}));
      if (inside.ns <= 0) continue;
      trace::RangeId parent = ranges.parent[i];
      std::uint32_t above = parent.valid() && parent.value < i && node_of[parent.value] != kNone
                                ? node_of[parent.value]
                                : flames_.thread_node(ranges.thread[i]);
      std::uint32_t node = node_of[i] = flames_.range_node(above, i);
      flames_.count(node, inside, analyzer::EventRef::of(trace::RangeId{i}));
      flames_.node(node).total += inside;
      // The root ranges of a thread make up its time; all threads together are the total.
      if (!parent.valid() || node_of[parent.value] == kNone) {
        flames_.node(above).total += inside;
        flames_.node(0).total += inside;
      }
    }
  }

  void add_device_op(trace::DeviceOpId op) {
    std::uint32_t above = stack_of(analysis_.attribution.range_of[op.value]);
    DurationNs length = trace_.device_ops.interval(op).length();
    std::uint32_t leaf = flames_.op_node(above, op, analysis_.attribution);
    flames_.count(leaf, length, analyzer::EventRef::of(op));
    for (std::uint32_t node = leaf;; node = flames_.node(node).parent) {
      flames_.node(node).total += length;
      if (node == 0) break;
      if (node != leaf) flames_.count(node, length, analyzer::EventRef::of(op));
    }
    ++flames_.node(0).count;
  }

  FlameGraph finish() { return flames_.finish(); }

 private:
  /// The node of a range within its ancestors; each is looked up once.
  std::uint32_t stack_of(trace::RangeId range) {
    if (stack_of_.empty()) stack_of_.assign(trace_.ranges.size(), kNone);
    std::vector<std::uint32_t>& chain = chain_;
    chain.clear();
    std::uint32_t node = 0;
    for (trace::RangeId at = range; at.valid(); at = trace_.ranges.parent[at.value]) {
      if (stack_of_[at.value] != kNone) {
        node = stack_of_[at.value];
        break;
      }
      chain.push_back(at.value);
    }
    for (std::size_t i = chain.size(); i-- > 0;)
      node = stack_of_[chain[i]] = flames_.range_node(node, chain[i]);
    return node;
  }

  const trace::Trace& trace_;
  const analyzer::Analysis& analysis_;
  FlameBuilder flames_;
  std::vector<std::uint32_t> stack_of_;
  std::vector<std::uint32_t> chain_;
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

FlameGraph make_flame_graph(const trace::Trace& trace, const analyzer::Analysis& analysis,
                            FlameWeight weight, Scope scope, const std::atomic<bool>* cancelled) {
  Builder builder(trace, analysis);
  std::int64_t steps = 0;
  bool whole = scope == Scope::kWhole || !has_steady_steps(analysis);
  if (weight == FlameWeight::kHost) {
    builder.add_host(SteadyTime(analysis.steps, whole), cancelled);
    if (!whole) steps = static_cast<std::int64_t>(analysis.steps.steady.size());
  } else if (!analysis.attribution.range_of.empty()) {
    std::size_t seen = 0;
    bool stop = false;
    steps = visit_ops(trace, analysis, scope, [&](trace::DeviceOpId op) {
      if (seen++ % kLookEvery == 0) stop = cancelled && *cancelled;
      if (!stop) builder.add_device_op(op);
    });
  }
  FlameGraph graph = builder.finish();
  graph.steps = steps;
  const char* what = weight == FlameWeight::kHost ? "Host time by thread and range"
                                                  : "Device time by launching range";
  graph.basis = steps ? fmt::format("{}, over {} steady steps: {} per step", what, steps,
                                    format_duration(graph.nodes[0].total / steps))
                      : fmt::format("{}, over the whole trace: {}", what,
                                    format_duration(graph.nodes[0].total));
  return graph;
}

bool matches_name(std::string_view name, std::string_view needle) {
  return !needle.empty() &&
         std::search(name.begin(), name.end(), needle.begin(), needle.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != name.end();
}

DurationNs FlameGraph::matching(std::string_view needle) const {
  DurationNs sum;
  std::vector<bool> counted(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    counted[n] = n > 0 && counted[nodes[n].parent];
    if (counted[n] || !matches_name(nodes[n].name, needle)) continue;
    counted[n] = true;
    sum += nodes[n].total;
  }
  return sum;
}

std::vector<FlameBox> layout_flames(const FlameGraph& graph, std::uint32_t focus, double width) {
  std::vector<FlameBox> boxes;
  if (graph.nodes.empty() || focus >= graph.nodes.size()) return boxes;
  std::vector<std::uint32_t> ancestors;
  for (std::uint32_t n = focus; n != 0; n = graph.nodes[n].parent)
    ancestors.push_back(graph.nodes[n].parent);
  for (std::size_t i = ancestors.size(); i-- > 0;)
    boxes.push_back({ancestors[i], 1, static_cast<int>(ancestors.size() - 1 - i), 0, width});
  std::size_t next = boxes.size();
  boxes.push_back({focus, 1, static_cast<int>(ancestors.size()), 0, width});
  // Breadth first: every box that is wide enough gets its children below it.
  for (; next < boxes.size(); ++next) {
    const FlameBox above = boxes[next];
    if (above.merged > 1) continue;
    double scale =
        above.width / std::max(1.0, static_cast<double>(graph.nodes[above.node].total.ns));
    double x = above.x;
    for (std::uint32_t c = graph.first_child[above.node]; c < graph.first_child[above.node + 1];
         ++c) {
      std::uint32_t node = graph.children[c];
      double wide = static_cast<double>(graph.nodes[node].total.ns) * scale;
      if (wide >= kLeastPixels) {
        boxes.push_back({node, 1, above.row + 1, x, wide});
        x += wide;
        continue;
      }
      // The remaining children are even narrower: they share one box, if it is wide enough.
      double rest = 0;
      for (std::uint32_t r = c; r < graph.first_child[above.node + 1]; ++r)
        rest += static_cast<double>(graph.nodes[graph.children[r]].total.ns) * scale;
      if (rest >= kLeastPixels)
        boxes.push_back({node, graph.first_child[above.node + 1] - c, above.row + 1, x, rest});
      break;
    }
  }
  return boxes;
}

}  // namespace headway::gui
