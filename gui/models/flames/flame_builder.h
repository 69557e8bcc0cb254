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

/// Puts a flame graph together: finds or makes the box of a name inside another box, and orders what was
/// made. Who uses it adds up totals.
class FlameBuilder {
 public:
  /// `label`: what a range's name reads as; names that read alike share a box.
  FlameBuilder(const trace::Trace& trace, std::function<std::string(std::string_view)> label);

  /// The box of what the range, call or device op is called, inside `above`; valid until the next is made.
  std::uint32_t range_node(std::uint32_t above, std::uint32_t range);
  std::uint32_t call_node(std::uint32_t above, std::uint32_t call);
  std::uint32_t op_node(std::uint32_t above, trace::DeviceOpId op,
                        const analyzer::Attribution& attribution);
  std::uint32_t thread_node(trace::ThreadId thread);
  FlameNode& node(std::uint32_t index) { return graph_.nodes[index]; }
  /// One more event of the box.
  void count(std::uint32_t index, DurationNs length, analyzer::EventRef event);
  /// True for ranges that only repeat on the host's side what the device did.
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
