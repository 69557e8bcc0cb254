// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace headway::record {

/// The rank that a launcher gave a process through its environment: torchrun, Open MPI, MPICH and
/// its kin, Slurm. `variable(name)` gives a variable's value, "" when it is not set.
std::optional<int> launched_rank(const std::function<std::string(const std::string&)>& variable);

/// The name of a trace with what stands for the place filled in: %r the rank, %h the host, %p the
/// recorder's process, %% a percent sign. Throws Error(kUsage) for another letter, and for %r
/// without a rank.
std::string fill_in_place(const std::string& name);

}  // namespace headway::record
