// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine_figures.h"

namespace headway::cli {

/// Numbers of ranks that are measured on a machine: 2, 4, 8, … and one for each of its processors, 64 at most;
/// none on a machine with one processor, where ranks would wait for each other's turn.
std::vector<int> measured_ranks(int processors);

/// The lines of one run of `headway-train --measure-collectives`. Throws Error(kBadInput) that says `from` when the
/// text is no such output.
std::vector<MeasuredCollective> read_collectives(const std::string& json, std::string_view from);

/// Adds what collectives take between processes of this host, over shared memory and, where there is an mpirun and
/// the trainer was built with it, over MPI: by starting the `headway-train` of `folder`. What cannot be measured is listed as
/// absent. One or two seconds for each number of ranks.
void add_collectives(const std::filesystem::path& folder, MeasuredHost& host);

/// "allreduce, 2 ranks, shm": what of it is printed.
std::string collectives_text(const std::vector<MeasuredCollective>& collectives);

}  // namespace headway::cli
