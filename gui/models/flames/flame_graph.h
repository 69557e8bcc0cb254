// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/tables/scope.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// What the width of a box means.
enum class FlameWeight : std::uint8_t {
  kDevice,  ///< device time of the ops launched inside
  kHost,    ///< time of the host's ranges
};

/// A stack of range names with its time. Stacks with equal names are merged; counting numbers are
/// left out of names.
struct FlameNode {
  std::string name;  ///< ready to be shown
  std::uint32_t parent = 0;
  std::uint16_t depth = 0;
  ColorRole color = ColorRole::kOtherPhase;
  std::uint8_t shade = 0;  ///< shade of the colour, chosen by name: Theme::shade
  DurationNs total;
  DurationNs self;  ///< total minus the totals of its children
  std::int64_t count = 0;
  Target longest;
  DurationNs longest_duration{-1};
};

struct FlameGraph {
  std::vector<FlameNode> nodes;            ///< [0] is the root; a parent comes before its children
  std::vector<std::uint32_t> first_child;  ///< into `children`; one more than nodes
  std::vector<std::uint32_t> children;     ///< largest total first
  std::int64_t steps = 0;                  ///< steps behind the totals; 0: the whole trace
  std::string basis;                       ///< a sentence: what the widths stand for
  int depth = 0;                           ///< of the deepest node

  /// The total of the nodes whose name contains `needle` (ignoring case); each stack counts once.
  DurationNs matching(std::string_view needle) const;
};
bool matches_name(std::string_view name, std::string_view needle);

/// Linear in the events. Returns only the root when `*cancelled` becomes true.
FlameGraph make_flame_graph(const trace::Trace& trace, const analyzer::Analysis& analysis,
                            FlameWeight weight, Scope scope,
                            const std::atomic<bool>* cancelled = nullptr);

/// A box of the picture. Boxes narrower than `kLeastPixels` share one.
struct FlameBox {
  std::uint32_t node = 0;  ///< if merged: the widest of them
  std::uint32_t merged = 1;
  int row = 0;
  double x = 0;
  double width = 0;
};
inline constexpr double kLeastPixels = 1.5;
/// The boxes of `focus` over `width` pixels, and its ancestors above it over the whole width.
std::vector<FlameBox> layout_flames(const FlameGraph& graph, std::uint32_t focus, double width);

}  // namespace headway::gui
