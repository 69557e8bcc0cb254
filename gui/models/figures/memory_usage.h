// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/models/tables/linked_table.h"
#include "gui/models/timeline/counter_lane.h"

namespace headway::gui {

/// Memory over time: the counters, what they do from step to step, allocations and copies.
struct MemoryUsage {
  struct Series {
    CounterLane lane;
    std::string title;  ///< "gpu.memory_used · device 0"
    std::string doc;
    std::string unit;
    double peak = 0;
    TimeNs peak_at;
  };
  std::vector<Series> series;  ///< of devices first; only such that have samples
  std::string text;            ///< peaks and growth
  std::string missing;         ///< no counter of memory: what to record
  LinkedTable growth;          ///< per counter: level, peak, change per step
  LinkedTable steps;           ///< per step: peak of each counter; rows lead to steps
  LinkedTable calls;           ///< allocations and frees by call; rows lead to the longest
  LinkedTable copies;
};

/// True for levels of memory: amounts of bytes that are no rate.
bool is_memory_level(const trace::CounterSeries& series);

/// Refers to the trace's counters. Linear in samples and calls.
MemoryUsage make_memory_usage(const trace::Trace& trace, const analyzer::Analysis& analysis);

/// A counter's value for people: "12.3 GB", "45.0 %".
std::string counter_value(double value, std::string_view unit);

}  // namespace headway::gui
