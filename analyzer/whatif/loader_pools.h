// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <vector>

#include "analyzer/graph/loaders.h"
#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// The threads that make a loader's batches.
std::set<trace::ThreadId> workers_of(const Points& points, const Loader& loader);

/// True where each batch was made by the worker that made the one a round before: processes that are given
/// their batches ahead, as PyTorch's.
bool is_in_turns(const Points& points, const Loader& loader, std::size_t workers);

/// The loaders' tasks as pools of another number of workers, and their queues' edges removed.
class LoaderPools {
 public:
  /// Both must outlive it.
  LoaderPools(const Predictor& predictor, Editor& editor);

  /// `depth` batches are under way at most.
  void add(const Loader& loader, std::size_t workers, std::size_t depth, bool in_turns);

  std::vector<Pool> pools;

 private:
  Pool::Task first_slot(TaskId made, Slot before) const;

  const Program& program_;
  const Points& points_;
  Editor& editor_;
};

}  // namespace headway::analyzer
