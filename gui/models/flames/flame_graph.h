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
  kDevice,  ///< device time of what was launched inside
  kHost,    ///< time of the host's ranges
};

/// A stack of range names and what it took. Stacks that read alike are one: numbers that count are
/// left out of names.
struct FlameNode {
  std::string name;  ///< fit to be shown
  std::uint32_t parent = 0;
  std::uint16_t depth = 0;
  ColorRole color = ColorRole::kOtherPhase;
  std::uint8_t shade = 0;  ///< of the colour, by name: Theme::shade
  DurationNs total;
  DurationNs self;  ///< total less that of its children
  std::int64_t count = 0;
  Target longest;
  DurationNs longest_duration{-1};
};

struct FlameGraph {
  std::vector<FlameNode> nodes;            ///< [0] is the root; a parent stands before its children
  std::vector<std::uint32_t> first_child;  ///< into `children`; one more than nodes
  std::vector<std::uint32_t> children;     ///< by falling total
  std::int64_t steps = 0;                  ///< that totals are over; 0: the whole trace
  std::string basis;                       ///< a sentence: what widths are over
  int depth = 0;                           ///< of the deepest node

  /// What nodes whose name holds `needle` (either case) took, each stack counted once.
  DurationNs matching(std::string_view needle) const;
};
bool matches_name(std::string_view name, std::string_view needle);

/// Linear in the events. Gives up, with the root alone, when `*cancelled` becomes true.
FlameGraph make_flame_graph(const trace::Trace& trace, const analyzer::Analysis& analysis,
                            FlameWeight weight, Scope scope,
                            const std::atomic<bool>* cancelled = nullptr);

/// A box of the picture. Boxes narrower than `kLeastPixels` share one.
struct FlameBox {
  std::uint32_t node = 0;  ///< when merged: the widest of them
  std::uint32_t merged = 1;
  int row = 0;
  double x = 0;
  double width = 0;
};
inline constexpr double kLeastPixels = 1.5;
/// The boxes of `focus` over `width` pixels, its ancestors above it as wide as the picture.
std::vector<FlameBox> layout_flames(const FlameGraph& graph, std::uint32_t focus, double width);

}  // namespace headway::gui
