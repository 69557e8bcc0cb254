// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace headway::cli {

/// What the launcher of an MPI job tells its processes through their environment.
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

/// Open MPI's and PMI's variables. Not Slurm's: a batch script has them too, outside of srun.
inline Launched launched() {
  Launched result;
  result.count =
      number_in_environment("OMPI_COMM_WORLD_SIZE", number_in_environment("PMI_SIZE", 1));
  result.index =
      number_in_environment("OMPI_COMM_WORLD_RANK", number_in_environment("PMI_RANK", 0));
  return result;
}

}  // namespace headway::cli
