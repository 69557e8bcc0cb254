// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// A part of a bar.
struct BarPart {
  std::uint32_t key = 0;  ///< index into StackedBars::legend
  DurationNs length;
  Target target;  ///< the target of a click; may be none
};

struct StackedBar {
  std::string label;
  std::string detail;  ///< secondary text below or beside the label
  std::vector<BarPart> parts;
  DurationNs total() const {
    DurationNs sum;
    for (const BarPart& part : parts) sum += part.length;
    return sum;
  }
};

/// Bars of the same kind below each other, on a common time axis.
struct StackedBars {
  struct Key {
    std::string label;
    std::string doc;
    ColorRole color = ColorRole::kOtherPhase;
    bool hollow = false;  ///< time in which nothing happens: drawn as an outline
  };
  std::string title;
  std::string axis;  ///< what the bar length stands for: "a steady step", "the steady window"
  std::vector<Key> legend;
  std::vector<StackedBar> bars;
  DurationNs longest() const;

  /// The index of a time class in the legend; adds the class if it is new.
  std::uint32_t key_of(analyzer::TimeClass time_class);
  /// Adds a bar of the classes in their order; classes without time are left out.
  void add(std::string label, std::string detail, const analyzer::ClassTimes& times);
};

}  // namespace headway::gui
