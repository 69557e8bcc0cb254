// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine_figures.h"

namespace headway::cli {

/// Numbers of ranks to measure on a machine: 2, 4, 8, … and one per processor, 64 at most. Empty on
/// a machine with one processor, where ranks would wait for each other's turn.
std::vector<int> measured_ranks(int processors);

/// Reads the fitted lines from the output of `headway-train --measure-collectives`. Throws
/// Error(kBadInput) that names `from` when the text is no such output.
std::vector<MeasuredCollective> read_collectives(const std::string& json, std::string_view from);

/// Adds the times of collectives between processes of this host, over shared memory and over MPI
/// (where mpirun exists and the trainer was built with MPI). Runs the `headway-train` in `folder`,
/// one or two seconds for each number of ranks. Collectives that cannot be measured are listed as
/// absent.
void add_collectives(const std::filesystem::path& folder, MeasuredHost& host);

/// The printed list: "allreduce, 2 ranks, shm".
std::string collectives_text(const std::vector<MeasuredCollective>& collectives);

}  // namespace headway::cli
