// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace headway::cli {

/// The rank and the number of processes that an MPI launcher passes in the environment.
struct Launched {
  int count = 1;
  int index = 0;
};

inline int number_in_environment(const char* name, int fallback) {
  const char* text = std::getenv(name);
  if (!text) return fallback;
  std::string_view view(text);
  int value = 0;
  auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  return error == std::errc{} && end == view.data() + view.size() ? value : fallback;
}

/// Reads the variables of Open MPI and PMI. Not those of Slurm: a batch script has them even
/// outside srun.
inline Launched launched() {
  Launched result;
  result.count =
      number_in_environment("OMPI_COMM_WORLD_SIZE", number_in_environment("PMI_SIZE", 1));
  result.index =
      number_in_environment("OMPI_COMM_WORLD_RANK", number_in_environment("PMI_RANK", 0));
  return result;
}

}  // namespace headway::cli
