// SPDX-License-Identifier: MIT
#include "analyzer/ranks/identity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>

#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using namespace trace;

std::optional<std::int32_t> number(std::string_view text) {
  std::int32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Set by the usual launchers; the recorder keeps them.
std::optional<std::int32_t> rank_in_environment(const Trace& trace) {
  static constexpr auto kVariables = std::to_array<std::string_view>(
      {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"});
  for (std::string_view variable : kVariables) {
    std::string key = std::string(meta::kEnvironmentPrefix) + std::string(variable);
    if (auto rank = number(trace.meta_value(key))) return rank;
  }
  return std::nullopt;
}

std::vector<ProcessId> device_processes(const Trace& trace) {
  std::vector<bool> works(trace.processes.size());
  for (StreamId stream : trace.device_ops.stream) {
    ProcessId process = trace.streams[stream.value].process;
    if (process.valid() && process.value < works.size()) works[process.value] = true;
  }
  std::vector<ProcessId> out;
  for (std::uint32_t p = 0; p < works.size(); ++p) {
    if (works[p]) out.push_back(ProcessId{p});
  }
  return out;
}

/// Processes that train without a device, if each has a separate rank: those of a launcher on this machine.
std::vector<ProcessId> host_ranks(const Trace& trace) {
  std::vector<bool> trains(trace.processes.size());
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const RangeInfo* info = trace.info(RangeId{r});
    if (info && info->kind == RangeKind::kStep)
      trains[trace.threads[trace.ranges.thread[r].value].process.value] = true;
  }
  std::set<std::int32_t> said;
  std::vector<ProcessId> out;
  for (std::uint32_t p = 0; p < trains.size(); ++p) {
    if (!trains[p]) continue;
    out.push_back(ProcessId{p});
    said.insert(trace.processes[p].rank);
  }
  if (said.size() != out.size()) out.clear();
  return out;
}

}  // namespace

std::int32_t world_size_of(const Trace& trace) {
  static constexpr auto kVariables = std::to_array<std::string_view>(
      {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
  if (trace.world_size > 0) return trace.world_size;
  for (std::string_view variable : kVariables) {
    std::string key = std::string(meta::kEnvironmentPrefix) + std::string(variable);
    if (auto size = number(trace.meta_value(key))) return *size;
  }
  return 0;
}

std::optional<std::int32_t> rank_in_name(std::string_view file_name) {
  std::string lower;
  for (char c : file_name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  for (std::string_view word : {"rank", "worker", "r"}) {
    for (std::size_t at = lower.find(word); at != std::string::npos;
         at = lower.find(word, at + 1)) {
      if (at > 0 && is_letter(lower[at - 1])) continue;
      std::size_t digits = at + word.size();
      if (digits < lower.size() &&
          std::string_view("-_.=").find(lower[digits]) != std::string::npos)
        ++digits;
      std::size_t end = digits;
      while (end < lower.size() && lower[end] >= '0' && lower[end] <= '9') ++end;
      if (end == digits) continue;
      if (auto rank = number(std::string_view(lower).substr(digits, end - digits))) return rank;
    }
  }
  return std::nullopt;
}

std::vector<RankProcesses> ranks_in(const Trace& trace, std::size_t file_index) {
  std::vector<ProcessId> working = device_processes(trace);
  if (working.empty()) working = host_ranks(trace);
  std::set<std::int32_t> said;
  for (ProcessId p : working) said.insert(trace.processes[p.value].rank);
  bool several = working.size() > 1 &&
                 (said.size() == working.size() || (said.size() == 1 && *said.begin() == 0));
  bool recorded = trace.world_size > 0 || (!said.empty() && *said.rbegin() > 0);
  std::vector<RankProcesses> out;
  if (!several) {
    RankProcesses one;
    one.identity.rank = said.empty() ? 0 : *said.begin();
    if (!recorded) {
      std::string name = std::filesystem::path(trace.path).filename().string();
      if (auto rank = rank_in_environment(trace)) {
        one.identity.rank = *rank;
      } else if (auto named = rank_in_name(name)) {
        one.identity = {*named, RankSource::kFileName};
      } else {
        one.identity = {static_cast<std::int32_t>(file_index), RankSource::kOrder};
      }
    }
    return {one};
  }
  for (std::size_t i = 0; i < working.size(); ++i) {
    RankProcesses rank;
    rank.main = working[i];
    rank.identity =
        said.size() > 1
            ? RankIdentity{trace.processes[working[i].value].rank, RankSource::kRecorded}
            : RankIdentity{static_cast<std::int32_t>(file_index + i), RankSource::kOrder};
    out.push_back(rank);
  }
  return out;
}

}  // namespace headway::analyzer
