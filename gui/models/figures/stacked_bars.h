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
  Target target;  ///< where a click leads; may be none
};

struct StackedBar {
  std::string label;
  std::string detail;  ///< below or beside the label, less important
  std::vector<BarPart> parts;
  DurationNs total() const {
    DurationNs sum;
    for (const BarPart& part : parts) sum += part.length;
    return sum;
  }
};

/// Bars of one meaning below each other, on one axis of time.
struct StackedBars {
  struct Key {
    std::string label;
    std::string doc;
    ColorRole color = ColorRole::kOtherPhase;
    bool hollow = false;  ///< nothing happens: drawn as an outline
  };
  std::string title;
  std::string axis;  ///< what the length is: "a steady step", "the steady window"
  std::vector<Key> legend;
  std::vector<StackedBar> bars;
  DurationNs longest() const;

  /// The key of a time class, added when it is new.
  std::uint32_t key_of(analyzer::TimeClass time_class);
  /// A bar of classes in their order, those without time left out.
  void add(std::string label, std::string detail, const analyzer::ClassTimes& times);
};

}  // namespace headway::gui
