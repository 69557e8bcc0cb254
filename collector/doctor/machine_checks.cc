// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <charconv>
#include <sstream>
#include <thread>

#include "collector/doctor/checks.h"
#include "common/format.h"

namespace headway::doctor {
namespace {

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::string bytes_text(std::uint64_t bytes) {
  return format_bytes(static_cast<std::int64_t>(bytes));
}

/// Folder of this process's group under cgroup v2; empty when there is none.
std::string control_group(const System& system) {
  std::istringstream lines(system.read("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + (line.size() > 4 ? line.substr(3) : "");
  }
  return "";
}

}  // namespace

Finding check_processors(const System& system) {
  const unsigned online = std::max(1u, std::thread::hardware_concurrency());
  std::string text = fmt::format("{} usable by this process", online);
  std::istringstream quota(system.read(control_group(system) + "/cpu.max"));
  std::string most;
  std::int64_t period = 0;
  if (quota >> most >> period && most != "max" && period > 0) {
    if (std::optional<std::int64_t> allowed = number(most)) {
      double cores = static_cast<double>(*allowed) / static_cast<double>(period);
      text += fmt::format(", the container's share is {:.1f}", cores);
      if (cores < online)
        return {Status::kWarning, text,
                "Programs start one thread per visible core and are then throttled: set "
                "OMP_NUM_THREADS and the loader's workers to the share, or raise it."};
    }
  }
  if (online < 2)
    return {Status::kWarning, text, "The recorder needs part of a core beside the program."};
  return {Status::kOk, text, ""};
}

Finding check_governor(const System& system) {
  std::string governor = system.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) return {Status::kNote, "unknown (common on virtual machines)", ""};
  if (governor == "performance") return {Status::kOk, governor, ""};
  return {Status::kWarning, fmt::format("governor '{}'", governor),
          "Launches and loaders run slower until the clock rises: sudo cpupower frequency-set -g "
          "performance"};
}

Finding check_memory_limit(const System& system) {
  std::string most = system.read(control_group(system) + "/memory.max");
  std::optional<std::int64_t> limit = number(most);
  if (!limit) return {Status::kOk, "none for this process's group", ""};
  std::string text =
      fmt::format("{} for this process's group", bytes_text(static_cast<std::uint64_t>(*limit)));
  constexpr std::int64_t kLittle = std::int64_t{4} << 30;
  if (*limit < kLittle)
    return {Status::kWarning, text,
            "Recording takes up to 1 MiB of it per thread, and up to 48 MiB for CUDA, in each "
            "process."};
  return {Status::kOk, text, ""};
}

Finding check_dev_shm(const System& system) {
  std::optional<System::Space> space = system.space("/dev/shm");
  if (!space)
    return {Status::kWarning, "not there",
            "DataLoader workers and NCCL need it: mount a tmpfs. Headway does not."};
  std::string text = fmt::format("{}, {} free", bytes_text(space->size), bytes_text(space->free));
  constexpr std::uint64_t kLittle = std::uint64_t{1} << 30;
  if (space->size < kLittle)
    return {Status::kWarning, text,
            "DataLoader workers pass batches through it, and NCCL uses it: start containers with "
            "--shm-size=8g or --ipc=host."};
  return {Status::kOk, text, ""};
}

Finding check_storage(const System& system) {
  std::optional<System::Space> space = system.space("");
  if (!space) return {Status::kNote, "the current folder no longer exists", ""};
  struct Kind {
    std::uint64_t magic;
    const char* name;
    bool remote;
  };
  // statfs(2)
  static constexpr auto kKinds = std::to_array<Kind>({{0xef53, "ext4", false},
                                                      {0x58465342, "xfs", false},
                                                      {0x9123683e, "btrfs", false},
                                                      {0x01021994, "tmpfs", false},
                                                      {0x794c7630, "overlay", false},
                                                      {0x6969, "NFS", true},
                                                      {0xff534d42, "CIFS", true},
                                                      {0xfe534d42, "SMB", true},
                                                      {0x0bd00bd0, "Lustre", true},
                                                      {0x47504653, "GPFS", true},
                                                      {0x00c36400, "CephFS", true},
                                                      {0x65735546, "FUSE", true}});
  for (const Kind& kind : kKinds) {
    if (kind.magic != space->type) continue;
    if (!kind.remote)
      return {Status::kOk, fmt::format("the current folder is on {}", kind.name), ""};
    return {Status::kWarning, fmt::format("the current folder is on {}", kind.name),
            "Many small files are slow over the network: if the data is here too, pack it into "
            "shards or copy it to a local disk. SQLite needs file locks that some servers lack: "
            "write the trace elsewhere with -o."};
  }
  return {Status::kNote,
          fmt::format("the current folder is on a file system of kind {:#x}", space->type), ""};
}

}  // namespace headway::doctor
