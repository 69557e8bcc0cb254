// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/replay/replayer.h"

namespace headway::analyzer {

/// Loaders' workers and the training thread on the processors that they share: where more threads compute than there are
/// processors, each gets its part, and takes as much longer. The training thread of a GPU gets a processor whenever it computes:
/// it sleeps often, and is served at once when it wakes up. One that computes the model itself takes part like the others.
class SharedProcessors {
 public:
  /// Keeps references to both.
  SharedProcessors(const Program& program, const std::vector<Part>& parts,
                   const Analysis& analysis);

  /// The scenario with the lengths that computing then takes: workers' stretches by one factor longer or shorter, the training
  /// thread's by another, but none shorter than alone. Lengths of their own, found by replaying again and again, drift apart.
  /// None where no thread ever waits for a processor, in the recording or in the scenario. Replays up to nine times.
  std::optional<Scenario> settled(Replayer& replayer, const Scenario& scenario) const;
  /// How much of its recorded length a worker's constraint takes with a processor of its own, 0 to 1; 1 of any other.
  double share_alone(ConstraintId id) const;
  /// What workers compute in a step, on all processors that a loader has; the most of any loader.
  DurationNs least_per_step() const { return least_; }

 private:
  /// Of a thread that computes.
  struct Stretch {
    ConstraintId id;
    Slot from;
    bool trains = false;
    double recorded = 0;  ///< ns
    double alone = 0;     ///< with a processor of its own
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
        1;  ///< share of their time in which workers that are not kept from it want a processor
  };
  /// A stretch in a scenario.
  struct Computing {
    const Stretch* stretch;
    std::size_t group;
    double scaled;  ///< as long as others kept it in the recording
    double alone;   ///< with a processor of its own
    double length;  ///< as assumed
  };
  /// By what stretches are longer.
  struct Times {
    double workers = 1;
    double training = 1;
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
  /// By what all stretches together differ from the assumed lengths, with what computes beside them at these times.
  Times times_as_long(const std::vector<std::int64_t>& times,
                      const std::vector<Computing>& computing) const;

  const Program& program_;
  const std::vector<Part>& parts_;
  bool reads_compute_ = false;
  double processors_ = 0;  ///< of each group; 0 unknown
  bool training_shares_ = false;
  std::vector<Group> groups_;
  bool contended_ = false;                                     ///< the recording
  std::vector<std::pair<ConstraintId, double>> shares_alone_;  ///< sorted; of contended recordings
  DurationNs least_;
};

}  // namespace headway::analyzer
