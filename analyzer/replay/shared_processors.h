// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/replay/replayer.h"

namespace headway::analyzer {

/// Loader workers and the training thread on the processors that they share. Where more threads compute than there are
/// processors, each gets a part and takes longer accordingly. The training thread of a GPU program is scheduled at once when a
/// batch wakes it up, and makes up for the share that it left to the workers while it slept, for half a millisecond; then, or
/// where it computes the model itself, it shares like the others.
class SharedProcessors {
 public:
  /// Keeps references to both.
  SharedProcessors(const Program& program, const std::vector<Part>& parts,
                   const Analysis& analysis);

  /// The scenario with the lengths that computing takes in it. Where threads get less of the processors than in the
  /// recording, the stretches that got most get less; where they get more, all get more in proportion, up to a processor of
  /// their own. Those of the workers change together, and those of the training thread. (Separate lengths per stretch, found by
  /// repeated replays, drift apart.) None where no thread ever waits for a processor, in the recording or in the scenario.
  /// Replays up to nine times.
  std::optional<Scenario> settled(Replayer& replayer, const Scenario& scenario) const;
  /// How much of its recorded length a worker's constraint takes with its own processor, 0 to 1; 1 for any other constraint.
  double share_alone(ConstraintId id) const;
  /// How long the computing of the workers takes per step on all processors of their loader; the most of any loader.
  DurationNs least_per_step() const { return least_; }

 private:
  /// A stretch in which a thread computes.
  struct Stretch {
    ConstraintId id;
    Slot from;
    bool trains = false;
    double recorded = 0;  ///< ns
    double alone = 0;     ///< with its own processor
  };
  struct Wait {
    Slot begin;
    Slot end;
  };
  /// A loader, and the training thread that takes its batches.
  struct Group {
    std::vector<Stretch> stretches;
    std::vector<Wait> waits;  ///< of the training thread for batches
    std::size_t workers = 0;  ///< as recorded; 0: the training thread makes the batches
    double computes =
        1;  ///< share of their time in which workers that nothing delays want a processor
  };
  /// A stretch in a scenario.
  struct Computing {
    const Stretch* stretch;
    std::size_t group;
    double scaled;  ///< under the scenario, slowed by others as in the recording
    double alone;   ///< with its own processor
    double length;  ///< as assumed in this pass
  };
  /// Sums over stretches, in ns.
  struct Times {
    double workers = 0;
    double training = 0;
  };
  struct Busy {
    double begin;
    double length;
  };
  class Profile;

  /// Reading waits for the storage, unless it is from memory.
  bool takes_a_processor(const Part& part) const;
  void add_stretches(TaskId made, Group& group) const;
  void add_training(trace::ThreadId thread, Group& group) const;
  template <class TimeOf>
  Profile profile_of(const Group& group, const std::vector<Busy>& workers, TimeOf time_of) const;
  static std::vector<Edit> edited(const Scenario& scenario,
                                  const std::vector<Computing>& computing);
  /// Sets the lengths of the training thread's stretches, or of the workers', so that they add up to `all`.
  static void share_out(std::vector<Computing>& computing, bool trains, double all);
  /// The needed lengths of all stretches together, given what computes beside them at `times`.
  Times needed_at(const std::vector<std::int64_t>& times,
                  const std::vector<Computing>& computing) const;

  const Program& program_;
  const std::vector<Part>& parts_;
  bool reads_compute_ = false;
  double processors_ = 0;  ///< of each group; 0 unknown
  bool training_shares_ = false;
  std::vector<Group> groups_;
  bool contended_ = false;                                     ///< in the recording
  std::vector<std::pair<ConstraintId, double>> shares_alone_;  ///< sorted; of contended recordings
  DurationNs least_;
};

}  // namespace headway::analyzer
