// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/models/tables/linked_table.h"
#include "gui/models/timeline/counter_lane.h"

namespace headway::gui {

/// Memory over time: counters, their change from step to step, allocations and copies.
struct MemoryUsage {
  struct Series {
    CounterLane lane;
    std::string title;  ///< "gpu.memory_used · device 0"
    std::string doc;
    std::string unit;
    double peak = 0;
    TimeNs peak_at;
  };
  std::vector<Series> series;  ///< those of devices first; only those with samples
  std::string text;            ///< peaks and growth
  std::string missing;         ///< set if there is no memory counter: what to record
  LinkedTable growth;          ///< per counter: level, peak, change per step
  LinkedTable steps;           ///< per step: peak of each counter; rows link to the steps
  LinkedTable calls;           ///< allocations and frees by call; rows link to the longest call
  LinkedTable copies;
};

/// True for counters of memory in use: byte counts that are not rates.
bool is_memory_level(const trace::CounterSeries& series);

/// The result refers to the trace's counters. Linear in samples and calls.
MemoryUsage make_memory_usage(const trace::Trace& trace, const analyzer::Analysis& analysis);

/// The displayed value of a counter: "12.3 GB", "45.0 %".
std::string counter_value(double value, std::string_view unit);

}  // namespace headway::gui
