// SPDX-License-Identifier: MIT
#include "collector/record/environment/launched_rank.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "collector/record/environment/environment.h"
#include "common/error.h"

namespace headway::record {

namespace {

/// The variable names of one launcher; null: it does not set the value.
struct Names {
  const char* launcher;
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_size;
  const char* node;
  const char* nodes;
  const char* job;
};

// The first launcher whose rank is set counts. Slurm is last: its variables are set in every job,
// also for processes that another launcher starts in it.
constexpr Names kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",
     "GROUP_WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr, nullptr, "PMIX_NAMESPACE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE", nullptr, nullptr, nullptr},
    {"PMIx", "PMIX_RANK", nullptr, nullptr, nullptr, nullptr, nullptr, "PMIX_NAMESPACE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr, nullptr,
     "PMI_JOBID"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr, "SLURM_NODEID",
     "SLURM_NNODES", "SLURM_JOB_ID"},
};

}  // namespace

Launched launched(const std::function<std::string(const std::string&)>& variable) {
  auto number = [&](const char* name) -> std::optional<int> {
    const std::string text = name ? variable(name) : "";
    int value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && value >= 0 ? std::optional(value) : std::nullopt;
  };
  Launched result;
  for (const Names& names : kLaunchers) {
    std::optional<int> rank = number(names.rank);
    if (!rank) continue;
    result.rank = rank;
    result.launcher = names.launcher;
    // Users, scripts and other launchers set the same variables.
    if (result.launcher == "torchrun" && variable("TORCHELASTIC_RUN_ID").empty())
      result.launcher = "environment";
    result.world_size = number(names.world_size);
    result.local_rank = number(names.local_rank);
    result.local_size = number(names.local_size);
    result.node = number(names.node);
    result.nodes = number(names.nodes);
    if (names.job) result.job = variable(names.job);
    break;
  }
  // Values that several launchers leave to the scheduler around them.
  if (!result.node) result.node = number("NODE_RANK");
  if (!result.node) result.node = number("SLURM_NODEID");
  if (!result.nodes) result.nodes = number("SLURM_NNODES");
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    const std::string job = variable(name);
    if (!job.empty()) result.job = job;
  }
  if (result.job == "none") result.job.clear();  // torchrun without --rdzv-id
  return result;
}

std::optional<int> launched_rank(const std::function<std::string(const std::string&)>& variable) {
  return launched(variable).rank;
}

Launched launched_self() {
  return launched([](const std::string& variable) {
    const char* value = std::getenv(variable.c_str());
    return std::string(value ? value : "");
  });
}

std::string fill_in_place(const std::string& name) {
  std::string filled;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      filled += name[i];
      continue;
    }
    const char letter = ++i < name.size() ? name[i] : '\0';
    switch (letter) {
      case 'r': {
        std::optional<int> rank = launched_self().rank;
        if (!rank)
          fail_usage(
              "-o {}: %r is the rank, but no launcher has set one (RANK, OMPI_COMM_WORLD_RANK, "
              "PMI_RANK, SLURM_PROCID). Use %p, or start the ranks with torchrun, mpirun or srun.",
              name);
        filled += std::to_string(*rank);
        break;
      }
      case 'h':
        filled += describe_machine().host;
        break;
      case 'p':
        filled += std::to_string(::getpid());
        break;
      case '%':
        filled += '%';
        break;
      default:
        fail_usage("-o {}: expected r (rank), h (host), p (process) or % after %.", name);
    }
  }
  return filled;
}

}  // namespace headway::record
