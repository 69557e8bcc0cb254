// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace headway::record {

/// What a launcher tells a process through its environment: torchrun, Open MPI, MPICH and its kin,
/// Slurm. What it does not tell is not there.
struct Launched {
  std::string launcher;           ///< "torchrun", "Open MPI", …; empty: by none that is known
  std::optional<int> rank;        ///< of the whole run, from 0
  std::optional<int> world_size;  ///< ranks of the run
  std::optional<int> local_rank;  ///< among those of this node
  std::optional<int> local_size;  ///< ranks of this node
  std::optional<int> node;        ///< number of this node
  std::optional<int> nodes;       ///< of the run
  std::string job;                ///< the scheduler's or launcher's name for the run

  friend bool operator==(const Launched&, const Launched&) = default;
};
/// `variable(name)` gives a variable's value, "" when it is not set.
Launched launched(const std::function<std::string(const std::string&)>& variable);
/// Only the rank.
std::optional<int> launched_rank(const std::function<std::string(const std::string&)>& variable);
/// Of this process.
Launched launched_self();

/// The name of a trace with what stands for the place filled in: %r the rank, %h the host, %p the
/// recorder's process, %% a percent sign. Throws Error(kUsage) for another letter, and for %r
/// without a rank.
std::string fill_in_place(const std::string& name);

}  // namespace headway::record
