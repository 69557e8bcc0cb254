// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analyzer/evidence/storage_model.h"
#include "analyzer/graph/loaders.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fix.h"

namespace headway::analyzer {

/// True where another thread makes the batches than waits for them.
bool has_workers(const Points& points, const Loader& loader);

/// The threads that make a loader's batches.
std::set<trace::ThreadId> workers_of(const Points& points, const Loader& loader);

/// The most workers between whose first and last batch some moment lies: those of later epochs replace them.
std::size_t workers_at_once(const Points& points, const Loader& loader);

/// The training threads' time in which a loader starts its workers anew goes away.
void drop_restarts(const Predictor& predictor, Editor& editor);

/// What comes once an epoch comes so many times as often a step: workers that start anew, and evaluations.
void repeat_epochs(const Predictor& predictor, int times, Editor& editor);

/// Fitted to all reads of the recording, of some threads or of all: those before a stretch of it decide when reads in it end. Its
/// reads and sums are those of the stretch.
StorageModel storage_of_run(const Predictor& predictor,
                            const std::set<trace::ThreadId>& threads = {});

/// What a storage that the recorded reads are seen to share needs for the batches of a step at least, with so many times
/// the bytes. Zero where they show no limit.
DurationNs least_for_storage(const Predictor& predictor, double times_bytes = 1);

/// The interval also holds a step that takes no less than `least`, as it is where more readers get no more of the storage.
void add_if_full(const Predictor& predictor, Proposal& proposal, DurationNs least);

/// Of one training thread, those that begin from `since` on.
std::size_t steps_of_a_thread(const Predictor& predictor, TimeNs since = TimeNs::min());

/// The batches that tell what making one takes: from `since` on (Steps::warm_from); all, if none was begun then.
std::span<const BatchTask> made_from(const Points& points, const Loader& loader, TimeNs since);

/// True where each batch was made by the worker that made the one a round before: processes that are given
/// their batches ahead, as PyTorch's.
bool is_in_turns(const Points& points, const Loader& loader, std::size_t workers);

/// The loaders' tasks as pools of another number of workers, and their queues' edges removed. Where reads
/// share a storage (storage_model.h), they take turns at it, whoever reads.
class LoaderPools {
 public:
  /// Both must outlive it.
  LoaderPools(const Predictor& predictor, Editor& editor);

  /// `depth` batches are under way at most. `persistent`: those of an epoch may be made before the one before it ends,
  /// also where the recorded workers were started anew.
  void add(const Loader& loader, std::size_t workers, std::size_t depth, bool in_turns,
           bool persistent = false);
  /// The same workers, and as many batches ahead as recorded.
  void add_as_recorded(const Loader& loader);
  /// As recorded, but the workers live on from one epoch to the next: none is started anew. True where some
  /// were.
  bool add_persistent(const Loader& loader);
  /// Moves pools and visits into the scenario; each read transfers so many times the bytes. The last call.
  void move_into(Scenario& scenario, double times_bytes = 1);

  /// How likely so many times as many of its readers are served as fast, see StorageModel::serves.
  double certainty_of(const Loader& loader, double times_readers) const;
  /// A step's reads, where `readers` at once take all that the storage gives: what more of them do not change. Nothing where
  /// the recorded reads show how they share it, which the pools' turns hold.
  std::optional<DurationNs> least_if_full(const Loader& loader, double readers) const;
  /// That the loader's workers read from.
  const StorageModel& storage_of(const Loader& loader) const {
    return storages_[server_of(loader)];
  }

 private:
  Pool::Task first_slot(TaskId made, Slot before) const;
  void add_visits(const Pool::Task& task, trace::ThreadId thread, std::uint32_t server);
  std::uint32_t server_of(const Loader& loader) const;

  const Program& program_;
  const Points& points_;
  TimeNs since_;       ///< from where on reads count
  std::size_t steps_;  ///< from there on
  Editor& editor_;
  const std::vector<Part>& parts_;
  /// One that all loaders read from, or one for each: whichever explains their reads better.
  std::vector<StorageModel> storages_;
  std::vector<trace::ThreadId>
      first_reader_;  ///< by loader with batches, beside `storages_` where each has one
  std::vector<Pool> pools_;
  std::vector<Visit> visits_;
};

}  // namespace headway::analyzer
