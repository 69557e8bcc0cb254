// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>

#include "collector/doctor/checks.h"
#include "collector/wire/layout.h"
#include "common/error.h"
#include "common/format.h"

namespace headway::doctor {
namespace {

bool all_digits(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Finding check_library(const System& system) {
  try {
    return {Status::kOk, system.inject_library().string(), ""};
  } catch (const Error& error) {
    return {Status::kProblem, error.what(), "Build or install Headway again."};
  }
}

Finding check_nvtx(const System& system) {
  std::string other = system.variable("NVTX_INJECTION64_PATH");
  if (other.empty() || other.ends_with("libheadway_inject.so"))
    return {Status::kOk, "no other tool uses NVTX in this shell", ""};
  return {Status::kWarning, fmt::format("NVTX_INJECTION64_PATH is {}", other),
          "`headway record` replaces it during the run; unset it if you no longer use that tool."};
}

Finding check_other_profilers(const System& system) {
  std::string injected = system.variable("CUDA_INJECTION64_PATH");
  if (!injected.empty() && !injected.ends_with("libheadway_inject.so"))
    return {Status::kWarning, fmt::format("CUDA_INJECTION64_PATH is {}", injected),
            "It stays active, so CUDA is not recorded: unset it, or use `--cuda off`."};
  static constexpr std::array<std::string_view, 6> kProfilers = {
      "nsys", "nsys-launcher", "ncu", "nvprof", "nv-hostengine", "dcgm-exporter"};
  for (const std::string& process : system.list("/proc")) {
    if (!all_digits(process)) continue;
    std::string name = system.read("/proc/" + process + "/comm");
    if (std::find(kProfilers.begin(), kProfilers.end(), name) == kProfilers.end()) continue;
    return {Status::kWarning, fmt::format("{} runs (process {})", name, process),
            "Only one tool per process can use CUPTI, and one per GPU hardware counters: Headway "
            "cannot record what that tool watches."};
  }
  return {Status::kOk, "none seen", ""};
}

Finding check_shared_memory(const System& system) {
  const std::uint64_t best = wire::segment_bytes(wire::kLayouts.front());
  const std::uint64_t least = wire::segment_bytes(wire::kLayouts.back());
  auto too_small = [&](int resource, std::uint64_t bytes) {
    std::optional<std::uint64_t> limit = system.limit(resource);
    return limit && *limit < bytes;
  };
  if (too_small(RLIMIT_AS, 10 * least) || too_small(RLIMIT_FSIZE, least))
    return {Status::kProblem, "`ulimit -v` or `ulimit -f` leaves no room for the event buffers",
            "Raise it (`ulimit -v unlimited; ulimit -f unlimited`): programs now run unrecorded."};
  if (too_small(RLIMIT_AS, 64 * best) || too_small(RLIMIT_FSIZE, best))
    return {Status::kWarning, "`ulimit -v` or `ulimit -f` leaves room for small event buffers only",
            "Raise it, or expect event loss in bursts."};
  return {Status::kOk, "no limit; /dev/shm is not used", ""};
}

Finding check_descriptors(const System& system) {
  std::optional<std::uint64_t> limit = system.limit(RLIMIT_NOFILE);
  if (!limit || *limit >= 1024)
    return {Status::kOk, limit ? fmt::format("{} at once", *limit) : "no limit", ""};
  return {Status::kWarning, fmt::format("{} at once", *limit),
          "Raise it (`ulimit -n 4096`): each recorded process needs two, loaders need many."};
}

Finding check_clock(const System& system) {
  std::string trouble = system.tsc_trouble();
  if (trouble.empty()) return {Status::kOk, "the processor counter (cheapest)", ""};
  return {Status::kNote, fmt::format("the system clock, about 40 ns more per range: {}", trouble),
          ""};
}

Finding check_output(const System& system) {
  constexpr std::uint64_t kLittle = std::uint64_t{2} << 30;
  std::optional<System::Space> space = system.space("");
  if (!space)
    return {Status::kProblem, "the current folder no longer exists", "Change to another folder."};
  std::string text = fmt::format("{} free in the current folder",
                                 format_bytes(static_cast<std::int64_t>(space->free)));
  if (space->free < kLittle)
    return {Status::kWarning, text,
            "A trace takes about 90 bytes per event; choose another place with -o."};
  return {Status::kOk, text, ""};
}

}  // namespace headway::doctor
