// SPDX-License-Identifier: MIT
#include "gui/models/flames/flame_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "gui/models/details/details.h"
#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

// Kinds of children, combined with the group of their name.
constexpr std::uint32_t kKernel = 1u << 31;
constexpr std::uint32_t kThread = 1u << 30;
constexpr std::uint32_t kCall = 1u << 29;

/// As in the rows of the timeline, equal names have the same shade.
std::uint8_t shade_of(std::uint32_t group) {
  return static_cast<std::uint8_t>((group * 2654435761u >> 16) % 3);
}

}  // namespace

FlameBuilder::FlameBuilder(const trace::Trace& trace,
                           std::function<std::string(std::string_view)> label)
    : trace_(trace), names_(trace.strings, std::move(label)) {
  graph_.nodes.push_back({});
  graph_.nodes[0].name = "all";
  for (const std::string& domain : trace.domains)
    of_device_.push_back(analyzer::source_of_domain(domain) == analyzer::RangeSource::kDevice);
}

bool FlameBuilder::is_device_range(trace::RangeId range) const {
  const std::size_t domain = trace_.ranges.domain[range.value].value;
  return domain < of_device_.size() && of_device_[domain];
}

template <class Fill>
std::uint32_t FlameBuilder::child(std::uint32_t parent, std::uint32_t kind, Fill fill) {
  const std::uint32_t index = keys_.of(std::uint64_t{parent} << 32 | kind) + 1;
  if (index == graph_.nodes.size()) {
    FlameNode& node = graph_.nodes.emplace_back();
    node.parent = parent;
    node.depth =
        static_cast<std::uint16_t>(std::min<int>(graph_.nodes[parent].depth + 1, UINT16_MAX));
    fill(node);
  }
  return index;
}

std::uint32_t FlameBuilder::range_node(std::uint32_t above, std::uint32_t range) {
  const std::uint32_t group = names_.of(trace_.ranges.name[range]);
  return child(above, group, [&](FlameNode& node) {
    node.name = display_text(names_.label(group));
    node.color = role_of(trace_, trace::RangeId{range});
    node.shade = shade_of(group);
  });
}

std::uint32_t FlameBuilder::call_node(std::uint32_t above, std::uint32_t call) {
  const std::uint32_t group = names_.of(trace_.calls.name[call]);
  return child(above, group | kCall, [&](FlameNode& node) {
    node.name = display_text(names_.label(group));
    node.color = role_of(trace_.calls.kind[call]);
    node.shade = shade_of(group);
  });
}

std::uint32_t FlameBuilder::op_node(std::uint32_t above, trace::DeviceOpId op,
                                    const analyzer::Attribution& attribution) {
  const std::uint32_t group = names_.of(trace_.device_ops.name[op.value]);
  return child(above, group | kKernel, [&](FlameNode& node) {
    node.name = display_text(names_.label(group));
    node.color = role_of(trace_, attribution, op);
    node.shade = shade_of(group);
  });
}

std::uint32_t FlameBuilder::thread_node(trace::ThreadId thread) {
  return child(0, thread.value | kThread, [&](FlameNode& node) {
    node.name = display_text(thread_label(trace_, thread), 80);
    if (trace_.processes.size() > 1)
      node.name += fmt::format(" (process {})",
                               trace_.processes[trace_.threads[thread.value].process.value].pid);
    node.color = ColorRole::kStep;
  });
}

void FlameBuilder::count(std::uint32_t index, DurationNs length, analyzer::EventRef event) {
  FlameNode& node = graph_.nodes[index];
  ++node.count;
  if (length <= node.longest_duration) return;
  node.longest_duration = length;
  node.longest = Target::of(event);
}

FlameGraph FlameBuilder::finish() {
  std::vector<FlameNode>& nodes = graph_.nodes;
  graph_.first_child.assign(nodes.size() + 1, 0);
  for (std::size_t n = 1; n < nodes.size(); ++n) ++graph_.first_child[nodes[n].parent + 1];
  std::partial_sum(graph_.first_child.begin(), graph_.first_child.end(),
                   graph_.first_child.begin());
  graph_.children.resize(nodes.size() - 1);
  std::vector<std::uint32_t> next(graph_.first_child.begin(), graph_.first_child.end() - 1);
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    nodes[n].self = nodes[n].total;
    graph_.depth = std::max(graph_.depth, static_cast<int>(nodes[n].depth));
    if (n) graph_.children[next[nodes[n].parent]++] = n;
  }
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    auto begin = graph_.children.begin() + graph_.first_child[n];
    auto end = graph_.children.begin() + graph_.first_child[n + 1];
    std::stable_sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
      return nodes[a].total > nodes[b].total;
    });
    for (auto one = begin; one != end; ++one) nodes[n].self -= nodes[*one].total;
    nodes[n].self = std::max(nodes[n].self, DurationNs{});
  }
  return std::move(graph_);
}

}  // namespace headway::gui
