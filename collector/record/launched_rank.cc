// SPDX-License-Identifier: MIT
#include "collector/record/launched_rank.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "collector/record/system/environment.h"
#include "common/error.h"

namespace headway::record {

std::optional<int> launched_rank(const std::function<std::string(const std::string&)>& variable) {
  // Slurm's last: it is set in every job, also for what another launcher starts in it.
  for (const char* name :
       {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const std::string text = variable(name);
    int rank = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc() && end == text.data() + text.size() && rank >= 0) return rank;
  }
  return std::nullopt;
}

std::string fill_in_place(const std::string& name) {
  auto own_variable = [](const std::string& variable) {
    const char* value = std::getenv(variable.c_str());
    return std::string(value ? value : "");
  };
  std::string filled;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      filled += name[i];
      continue;
    }
    const char letter = ++i < name.size() ? name[i] : '\0';
    switch (letter) {
      case 'r': {
        std::optional<int> rank = launched_rank(own_variable);
        if (!rank)
          fail_usage(
              "-o {}: %r stands for the rank, and no launcher has set one here (RANK, "
              "OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID). Use %p, or start the ranks with "
              "torchrun, mpirun or srun.",
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
        fail_usage("-o {}: after % come r (rank), h (host), p (process) or another %.", name);
    }
  }
  return filled;
}

}  // namespace headway::record
