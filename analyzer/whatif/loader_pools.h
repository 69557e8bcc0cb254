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

/// True where other threads make the batches than the one that waits for them.
bool has_workers(const Points& points, const Loader& loader);

/// The threads that make a loader's batches.
std::set<trace::ThreadId> workers_of(const Points& points, const Loader& loader);

/// The number of workers: the most that work at the same time, from the first to the last batch of each. Workers of a later
/// epoch replace earlier ones.
std::size_t workers_at_once(const Points& points, const Loader& loader);

/// Removes the time that training threads spend restarting workers. False if they spend none.
bool drop_restarts(const Predictor& predictor, Editor& editor);

/// Makes events of each epoch (worker restarts, evaluations) `times` as frequent per step. What steps have launched when
/// workers restart takes `growth` times as long on the device: each restart hides as much.
void repeat_epochs(const Predictor& predictor, int times, double growth, Editor& editor);

/// Storage model of the analysed stretch. It is fitted to all recorded reads of `threads` (empty: all threads), because earlier
/// reads delay those of the stretch.
StorageModel storage_of_run(const Predictor& predictor,
                            const std::set<trace::ThreadId>& threads = {});

/// Storage model of what the first loader's workers read from: their own, or the one that all share. That of the whole run
/// where no loader made a batch.
StorageModel storage_of_loaders(const Predictor& predictor);

/// Least time that the shared storage needs for the batches of a step with `times_bytes` the bytes. Zero where the recorded
/// reads show no limit.
DurationNs least_for_storage(const Predictor& predictor, double times_bytes = 1);

/// Extends the predicted interval to a step of at least `least`: the case that more readers get no more bandwidth.
void add_if_full(const Predictor& predictor, Proposal& proposal, DurationNs least);

/// Certainty of a proposal with more readers, where the storage serves them with the certainty `serves`: what is gained even in
/// steps of at least `least`, as if they got no more bandwidth, is certain.
double certainty_if_full(const Predictor& predictor, const Scenario& scenario, DurationNs least,
                         double serves);

/// The number of steps of one training thread that begin at or after `since`.
std::size_t steps_of_a_thread(const Predictor& predictor, TimeNs since = TimeNs::min());

/// The batches whose making time counts: those begun at or after `since` (Steps::warm_from); all, if there is none.
std::span<const BatchTask> made_from(const Points& points, const Loader& loader, TimeNs since);

/// True where workers make batches round-robin, like PyTorch's, which get their batch numbers in advance.
bool is_in_turns(const Points& points, const Loader& loader, std::size_t workers);

/// Replaces the recorded workers of loaders by pools of another size, and removes the edges of their queues. Reads of a shared
/// storage (storage_model.h) take turns.
class LoaderPools {
 public:
  /// Both must outlive it.
  LoaderPools(const Predictor& predictor, Editor& editor);

  /// At most `depth` batches are in work or waiting. `persistent`: workers make batches of the next epoch before this one
  /// ends, even if the recorded workers restarted.
  void add(const Loader& loader, std::size_t workers, std::size_t depth, bool in_turns,
           bool persistent = false);
  /// With the recorded number of workers and depth.
  void add_as_recorded(const Loader& loader);
  /// As recorded, but workers stay alive across epochs. Returns true if recorded workers restarted.
  bool add_persistent(const Loader& loader);
  /// As `add`, with workers that stay alive.
  bool add_persistent(const Loader& loader, std::size_t workers, std::size_t depth, bool in_turns);
  /// Moves pools and visits into the scenario; each read transfers `times_bytes` its bytes. The last call.
  void move_into(Scenario& scenario, double times_bytes = 1);

  /// Certainty, 0 to 1, that the storage serves `times_readers` the readers at the same speed: StorageModel::serves.
  double certainty_of(const Loader& loader, double times_readers) const;
  /// Read time of a step if `readers` already use the full bandwidth of the storage. Nothing where the recorded reads show how
  /// they share it: then the turns of the pools limit them.
  std::optional<DurationNs> least_if_full(const Loader& loader, double readers) const;
  /// The storage that the loader's workers read from.
  const StorageModel& storage_of(const Loader& loader) const {
    return storages_[server_of(loader)];
  }

 private:
  Pool::Task first_slot(TaskId made, Slot before) const;
  void add_visits(const Pool::Task& task, trace::ThreadId thread, std::uint32_t server);
  std::uint32_t server_of(const Loader& loader) const;

  const Program& program_;
  const Points& points_;
  TimeNs since_;       ///< reads count from here on
  std::size_t steps_;  ///< from there on
  Editor& editor_;
  const std::vector<Part>& parts_;
  /// One for all loaders or one for each, whichever explains their reads better.
  std::vector<StorageModel> storages_;
  std::vector<trace::ThreadId>
      first_reader_;  ///< by loader with batches, beside `storages_` where each has one
  std::vector<Pool> pools_;
  std::vector<Visit> visits_;
};

}  // namespace headway::analyzer
