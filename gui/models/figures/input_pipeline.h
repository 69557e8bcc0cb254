// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "gui/models/figures/stacked_bars.h"
#include "gui/models/tables/linked_table.h"

namespace headway::gui {

/// The stages that make a batch, in order.
enum class InputStage : std::uint8_t { kRead, kDecode, kAugment, kCollate, kRest };
inline constexpr std::size_t kInputStages = 5;

/// How batches are made and waited for during the steady steps (the whole trace if there are none).
struct InputPipeline {
  bool knows_stages = false;  ///< the loader reports its stages
  bool knows_waits = false;   ///< the trace shows when a step waits for its batch
  std::string text;           ///< which stage limits, with figures; and what is not known
  std::string missing;        ///< set if nothing is known: why, and what to record
  StackedBars workers;        ///< each worker over the window: stages and waiting for work
  LinkedTable stages;         ///< time, bytes and rate of each stage
  LinkedTable threads;        ///< each worker: batches, utilisation
  LinkedTable waits;          ///< each step's wait for its batch, longest first
  LinkedTable copies;         ///< copies to the device
};

/// Cost: linear in the ranges.
InputPipeline make_input_pipeline(const trace::Trace& trace, const analyzer::Analysis& analysis);

}  // namespace headway::gui
