// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "reference_trainer/comm/backend.h"
#include "reference_trainer/switches/settings.h"

namespace headway::trainer {

/// Which rank this process is, according to its launcher: from the variables of torchrun (RANK and
/// WORLD_SIZE), Open MPI, PMI or Slurm, or from our own launcher.
struct RankIdentity {
  int rank = 0;
  int ranks = 1;
  std::string run;     ///< the same for all ranks; different for every run on this host
  bool mpi = false;    ///< started by mpirun or the like
  int local_rank = 0;  ///< among the ranks of this host
};
/// Returns nothing when no launcher set a rank. Throws Error (usage) when the variables contradict
/// each other.
std::optional<RankIdentity> identity_from_environment();

/// Starts `ranks` processes of this program with these arguments and waits for them; passes SIGINT
/// and SIGTERM on. When one fails, the others get a few seconds to report it and are then ended.
/// Returns the exit status of the first rank that fails, 4 when a signal ended it; 0 when none
/// failed.
int launch_ranks(int ranks, const char* const* argv);

/// Connects to the other ranks and waits for all of them. Throws Error when they cannot be reached.
std::unique_ptr<CommBackend> connect_ranks(const RankIdentity& identity, const Settings& settings);

/// Two files of comm/mpi/ implement it, for builds with and without MPI. Null: built without MPI.
/// `timeout`: how long the end of a message waits for the other end.
std::unique_ptr<CommBackend> connect_mpi(int ranks_per_node, std::chrono::nanoseconds timeout);

/// The links that a real run is throttled to, from its switches.
LinkModel emulated_links(const Settings& settings);
bool emulates_links(const Settings& settings);
/// How long a rank waits for the others.
std::chrono::nanoseconds comm_timeout(const Settings& settings);

/// Throws Error (usage) for switches that exclude each other.
void check_rank_settings(const Settings& settings);

}  // namespace headway::trainer
