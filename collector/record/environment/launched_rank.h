// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace headway::record {

/// What a launcher tells a process through its environment: torchrun, Open MPI, MPICH and related
/// ones, Slurm. Values that it does not give are nullopt or empty.
struct Launched {
  std::string launcher;           ///< "torchrun", "Open MPI", …; empty: no known launcher
  std::optional<int> rank;        ///< of the whole run, from 0
  std::optional<int> world_size;  ///< ranks of the run
  std::optional<int> local_rank;  ///< among the ranks of this node
  std::optional<int> local_size;  ///< ranks of this node
  std::optional<int> node;        ///< number of this node
  std::optional<int> nodes;       ///< number of nodes of the run
  std::string job;                ///< the scheduler's or launcher's name for the run

  friend bool operator==(const Launched&, const Launched&) = default;
};
/// `variable(name)` gives a variable's value, "" when it is not set.
Launched launched(const std::function<std::string(const std::string&)>& variable);
/// Only the rank.
std::optional<int> launched_rank(const std::function<std::string(const std::string&)>& variable);
/// The same for this process.
Launched launched_self();

/// The name of a trace with its placeholders replaced: %r by the rank, %h by the host, %p by the
/// recorder's process id, %% by a percent sign. Throws Error(kUsage) for another letter, and for %r
/// without a rank.
std::string fill_in_place(const std::string& name);

}  // namespace headway::record
