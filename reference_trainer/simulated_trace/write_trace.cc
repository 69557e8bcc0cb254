// SPDX-License-Identifier: MIT
#include "reference_trainer/simulated_trace/write_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "common/error.h"
#include "reference_trainer/simulated_trace/rank_writer.h"
#include "trace/meta_keys.h"
#include "trace/tables/all.h"

namespace headway::trainer::sim {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c == '*') c = ' ';
  }
  return result;
}

void write_session(trace::TraceWriter& writer, const SimulatedRun& run, std::int64_t end,
                   const std::vector<int>& ranks) {
  namespace meta = trace::meta;
  // Simulated time has no date; a fixed one keeps the file the same from run to run.
  writer.add<trace::tables::SessionStart>({0, "1970-01-01T00:00:00Z", {}, 0});
  writer.set_meta(meta::kProducer, "headway-train, simulated");
  writer.set_meta(meta::kCommand, run.command);
  writer.set_meta(meta::kClock, "simulated");
  // Cores are given per rank; a machine has those of all its ranks.
  writer.set_meta(meta::kCpuCount,
                  std::to_string(run.host_cores * std::min(run.ranks, run.ranks_per_node)));
  writer.set_meta(meta::kDurationNs, std::to_string(end));
  writer.set_meta(meta::kExitCode, "0");
  writer.set_meta(meta::kHost,
                  fmt::format("simulated-node-{}", ranks.front() / run.ranks_per_node));
  if (run.ranks > 1) {
    writer.set_meta(meta::kWorldSize, std::to_string(run.ranks));
    if (ranks.size() == 1) {
      writer.set_meta("env.RANK", std::to_string(ranks.front()));
      writer.set_meta("env.WORLD_SIZE", std::to_string(run.ranks));
    }
  }
  if (run.tf32_forbidden) writer.set_meta("env.NVIDIA_TF32_OVERRIDE", "0");
  for (const auto& [name, value] : run.settings)
    writer.add<trace::tables::Setting>({0, writer.keep(name), writer.keep(value)});
  if (run.result.padding >= 0)
    writer.add<trace::tables::Setting>({0, writer.keep(conventions::kPaddingSetting),
                                        writer.keep(fmt::format("{:.4f}", run.result.padding))});
}

void write_file(const SimulatedRun& run, const std::filesystem::path& path,
                const std::vector<int>& ranks) {
  trace::TraceWriter writer(path);
  std::int64_t end = 0;
  for (int rank : ranks) end = std::max(end, run.recordings[static_cast<std::size_t>(rank)].end);
  write_session(writer, run, end, ranks);
  const bool alone = ranks.size() == 1;
  for (int rank : ranks)
    RankWriter(writer, run, run.recordings[static_cast<std::size_t>(rank)], alone).write();
  writer.finish();
}

}  // namespace

std::string device_name(SimulatedGpu gpu) {
  for (const std::string& name : {upper(gpu.model->id), upper(gpu.model->pattern)}) {
    const std::string whole = fmt::format("Simulated NVIDIA {}", name);
    if (find_gpu(whole) == gpu.model) return whole;
  }
  return fmt::format("Simulated {}", gpu.model->pattern);
}

void write_trace(const SimulatedRun& run, const std::filesystem::path& path) {
  std::vector<int> all(static_cast<std::size_t>(run.ranks));
  std::iota(all.begin(), all.end(), 0);
  const std::string name = path.filename().string();
  const std::size_t at = name.find("%r");
  if (at == std::string::npos) return write_file(run, path, all);
  for (int rank : all) {
    std::string own = name;
    own.replace(at, 2, std::to_string(rank));
    write_file(run, path.parent_path() / own, {rank});
  }
}

}  // namespace headway::trainer::sim
