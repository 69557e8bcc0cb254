// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/stats/summary.h"
#include "gui/models/flames/flame_graph.h"

namespace headway::gui {

/// Builds a flame graph: finds or creates the box of a name inside another box, and orders the
/// boxes. The caller adds up the totals.
class FlameBuilder {
 public:
  /// `label`: converts a range's name to the displayed name; equal displayed names share a box.
  FlameBuilder(const trace::Trace& trace, std::function<std::string(std::string_view)> label);

  /// The box for the name of a range, call or device op, inside `above`; valid until the next is
  /// made.
  std::uint32_t range_node(std::uint32_t above, std::uint32_t range);
  std::uint32_t call_node(std::uint32_t above, std::uint32_t call);
  std::uint32_t op_node(std::uint32_t above, trace::DeviceOpId op,
                        const analyzer::Attribution& attribution);
  std::uint32_t thread_node(trace::ThreadId thread);
  FlameNode& node(std::uint32_t index) { return graph_.nodes[index]; }
  /// Counts one more event of the box.
  void count(std::uint32_t index, DurationNs length, analyzer::EventRef event);
  /// True for host ranges that only repeat the work of the device.
  bool is_device_range(trace::RangeId range) const;

  /// Fills in children and own times. Call once, last.
  FlameGraph finish();

 private:
  template <class Fill>
  std::uint32_t child(std::uint32_t parent, std::uint32_t kind, Fill fill);

  const trace::Trace& trace_;
  analyzer::NameGroups names_;
  analyzer::KeyGroups keys_;
  std::vector<bool> of_device_;  ///< by domain
  FlameGraph graph_;
};

}  // namespace headway::gui
