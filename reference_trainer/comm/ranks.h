// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "reference_trainer/comm/backend.h"
#include "reference_trainer/switches/settings.h"

namespace headway::trainer {

/// Which rank this process is, as the launcher has said: torchrun's RANK and WORLD_SIZE, Open MPI's,
/// PMI's or Slurm's variables, or our own launcher.
struct RankIdentity {
  int rank = 0;
  int ranks = 1;
  std::string run;     ///< the same for all ranks, another for every run on this host
  bool mpi = false;    ///< started by mpirun or the like
  int local_rank = 0;  ///< among the ranks of this host
};
/// None when nobody has launched ranks. Throws Error (usage) when the variables contradict each other.
std::optional<RankIdentity> identity_from_environment();

/// Starts `ranks` processes of this program with these arguments and waits for them; passes SIGINT and
/// SIGTERM on. When one fails, the others get a few seconds to say so and are then ended. Returns the
/// first failing rank's exit status, 4 when a signal ended it; 0 when none failed.
int launch_ranks(int ranks, const char* const* argv);

/// The way to the other ranks. Waits for all of them. Throws Error when they cannot be reached.
std::unique_ptr<CommBackend> connect_ranks(const RankIdentity& identity, const Settings& settings);

/// Built with MPI or not, one file of comm/mpi/ each. Null: built without.
std::unique_ptr<CommBackend> connect_mpi(int ranks_per_node);

/// What throttles a real run, by its switches.
LinkModel emulated_links(const Settings& settings);
bool emulates_links(const Settings& settings);
/// How long a rank waits for the others.
std::chrono::nanoseconds comm_timeout(const Settings& settings);

/// Throws Error (usage) for switches that do not go together.
void check_rank_settings(const Settings& settings);

}  // namespace headway::trainer
