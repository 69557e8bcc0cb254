// SPDX-License-Identifier: MIT
#include "collector/record/environment/environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

namespace headway::record {
namespace {

using std::string_view_literals::operator""sv;

// Matched by prefix, so that new settings of a known library are included.
constexpr std::array kPrefixes = {
    "CUDA_"sv,  "CUDNN_"sv,  "CUBLAS_"sv, "NVIDIA_"sv,  "NCCL_"sv,          "NVSHMEM_"sv,
    "UCX_"sv,   "OMP_"sv,    "GOMP_"sv,   "KMP_"sv,     "MKL_"sv,           "OPENBLAS_"sv,
    "DNNL_"sv,  "ONEDNN_"sv, "TORCH_"sv,  "PYTORCH_"sv, "TORCHINDUCTOR_"sv, "TRITON_"sv,
    "XLA_"sv,   "TF_"sv,     "JAX_"sv,    "SLURM_"sv,   "OMPI_"sv,          "PMI_"sv,
    "PMIX_"sv,  "MV2_"sv,    "MPI_"sv,    "PBS_"sv,     "LSB_"sv,           "HEADWAY_"sv,
    "MALLOC_"sv};
constexpr std::array kNames = {
    "RANK"sv,           "WORLD_SIZE"sv,        "LOCAL_RANK"sv,        "LOCAL_WORLD_SIZE"sv,
    "GROUP_RANK"sv,     "NODE_RANK"sv,         "MASTER_ADDR"sv,       "MASTER_PORT"sv,
    "LD_PRELOAD"sv,     "GLIBC_TUNABLES"sv,    "CONDA_DEFAULT_ENV"sv, "VIRTUAL_ENV"sv,
    "PYTHONHASHSEED"sv, "PYTHONFAULTHANDLER"sv};
constexpr std::array kSecrets = {
    "TOKEN"sv, "SECRET"sv,  "PASSW"sv, "CREDENTIAL"sv, "AUTH"sv,           "COOKIE"sv,
    "API"sv,   "PRIVATE"sv, "_KEY"sv,  "CERT"sv,       "HEADWAY_SESSION"sv};

bool explains(std::string_view name) {
  auto within = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (std::any_of(kSecrets.begin(), kSecrets.end(), within)) return false;
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    for (std::string_view key : {"model name", "Model", "cpu model"}) {
      std::size_t colon = line.find(": ");
      if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
    }
  }
  return "";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> explaining_environment() {
  std::vector<std::pair<std::string, std::string>> result;
  for (char** entry = environ; *entry; ++entry) {
    std::string_view text = *entry;
    std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !explains(text.substr(0, equals))) continue;
    result.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(result.begin(), result.end());
  return result;
}

Machine describe_machine() {
  Machine machine;
  utsname names{};
  if (::uname(&names) == 0) {
    machine.host = names.nodename;
    machine.kernel = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
  }
  machine.cpu = cpu_model();
  cpu_set_t allowed;
  machine.cpu_count = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0
                          ? CPU_COUNT(&allowed)
                          : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  machine.memory_bytes =
      std::int64_t{::sysconf(_SC_PHYS_PAGES)} * std::int64_t{::sysconf(_SC_PAGESIZE)};
  return machine;
}

}  // namespace headway::record
