// SPDX-License-Identifier: MIT
// Input is always ready, by whatever means: more workers, prefetching, faster storage.
#include <fmt/format.h>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

bool is_input(TimeClass time_class) {
  return info(time_class).group == TimeGroup::kInput;
}

Proposal propose(const Predictor& predictor) {
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  std::int64_t waits = 0;
  for (std::size_t i = 0; i < points.ranges().size(); ++i) {
    const TaskId task = points.range_task(i);
    if (!predictor.program().graph().is_waiting(task)) continue;
    editor.remove_edges(end_of(task), EdgeKind::kBatch);
    editor.set_duration(task, {0});
    ++waits;
  }
  Scenario scenario = editor.take();
  // If the training thread loads the data itself, or it is not known who does, the time is its own.
  bool own = false;
  for (std::size_t part = 0; part < predictor.parts().size(); ++part) {
    const Part& one = predictor.parts()[part];
    if (one.kind != Part::Kind::kHost || !is_input(one.time_class)) continue;
    scenario.scale(PartId::from(part), 0);
    own = true;
  }
  if (waits == 0 && !own) return not_here("no thread waits for input");
  return {true,
          waits > 0 ? fmt::format("{} input waits take no time", waits)
                    : std::string("loading on the training thread takes no time"),
          std::move(scenario)};
}

}  // namespace

const Fix kFreeInput{"free-input",
                     "Have every batch ready in time",
                     "input-bound, workers-starved, slow-storage",
                     FixKind::kCeiling,
                     0.02,
                     "--workers, --prefetch, --source, --decode",
                     "Input waits, and loading on the training thread, take no time.",
                     "whether processors and storage can make batches this fast",
                     propose};

}  // namespace headway::analyzer
