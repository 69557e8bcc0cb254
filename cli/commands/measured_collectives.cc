// SPDX-License-Identifier: MIT
#include "cli/commands/measured_collectives.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/calibrate/collective_line.h"
#include "cli/tune/child.h"
#include "cli/tune/runs.h"
#include "common/error.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::cli {
namespace {

using Json = nlohmann::json;

constexpr int kMostRanks = 64;
/// Far more than a run takes, so that a hanging rank does not hang the calibration.
constexpr double kLimitSeconds = 120;

struct Backend {
  std::string_view name;
  bool by_mpirun;
};
constexpr auto kBackends = std::to_array<Backend>({{"shm", false}, {"mpi", true}});

std::vector<std::string> command_for(const std::string& trainer, const Backend& backend,
                                     int ranks) {
  const std::string count = std::to_string(ranks);
  const std::string name(backend.name);
  if (backend.by_mpirun)
    return {"mpirun", "-n", count, trainer, "--measure-collectives", "--comm", name};
  return {trainer, "--measure-collectives", "--comm", name, "--ranks", count};
}

/// The trainer's error message, else the first line of the launcher's output that contains letters.
std::string reason(const tune::ChildResult& result) {
  std::istringstream lines(result.err);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("headway-train: ")) return line.substr(line.find(' ') + 1);
    if (first.empty() && std::ranges::any_of(line, [](unsigned char c) { return std::isalpha(c); }))
      first = line;
  }
  return first.empty() ? fmt::format("it ended with status {}", result.status) : first;
}

/// Measures one backend with all numbers of ranks. Returns why some are missing; empty when none
/// is.
std::string measure(const std::string& trainer, const Backend& backend, int processors,
                    std::vector<MeasuredCollective>& into) {
  for (int ranks : measured_ranks(processors)) {
    try {
      const tune::ChildResult result =
          tune::run_child(command_for(trainer, backend, ranks), kLimitSeconds);
      if (result.status != 0) return reason(result);
      for (MeasuredCollective& one : read_collectives(result.out, trainer))
        into.push_back(std::move(one));
    } catch (const tune::RunTooLong&) {
      return fmt::format("{} ranks took longer than {} s", ranks, kLimitSeconds);
    } catch (const Error& error) {
      return error.what();
    }
  }
  return "";
}

}  // namespace

std::vector<int> measured_ranks(int processors) {
  std::vector<int> counts;
  const int most = std::min(processors, kMostRanks);
  for (int ranks = 2; ranks < most; ranks *= 2) counts.push_back(ranks);
  if (most >= 2) counts.push_back(most);
  return counts;
}

std::vector<MeasuredCollective> read_collectives(const std::string& json, std::string_view from) {
  std::vector<MeasuredCollective> result;
  try {
    const Json root = Json::parse(json);
    if (root.at("schema") != "headway.collectives" || root.at("version") != 1)
      fail_input("{}: --measure-collectives: its version differs from this headway.",
                 escape_terminal(from));
    for (const auto& [kind, rows] : root.at("kinds").items()) {
      std::vector<calibrate::SizeTimes> sizes;
      for (const Json& row : rows)
        sizes.push_back(
            {row.at("bytes").get<std::int64_t>(), row.at("ns").get<std::vector<double>>()});
      MeasuredCollective& one = result.emplace_back(calibrate::fit_line(sizes));
      one.backend = root.at("backend").get<std::string>();
      one.kind = kind;
      one.ranks = root.at("ranks").get<std::int32_t>();
    }
  } catch (const Json::exception&) {
    fail_input("{}: --measure-collectives did not print the expected JSON.", escape_terminal(from));
  }
  return result;
}

void add_collectives(const std::filesystem::path& folder, MeasuredHost& host) {
  const std::string trainer = (folder / "headway-train").string();
  auto absent = [&](const std::string& why) {
    host.absent.push_back({MachineFigure::kHostCollective, why});
  };
  if (measured_ranks(host.processors).empty())
    return absent("ranks need two processors; this machine has one");
  if (::access(trainer.c_str(), X_OK) != 0)
    return absent(fmt::format("{}, which runs the ranks, is missing", trainer));
  std::string why;
  for (const Backend& backend : kBackends) {
    const std::string its = measure(trainer, backend, host.processors, host.collectives);
    if (!its.empty()) why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", backend.name, its);
  }
  if (!why.empty()) absent(why);
}

std::string collectives_text(const std::vector<MeasuredCollective>& collectives) {
  std::string out;
  for (const MeasuredCollective& one : collectives)
    out += fmt::format(
        "  {:<28} {:>12}   + bytes at {} ({} to {}; half of the sizes within {})\n",
        escape_terminal(fmt::format("{}, {} ranks, {}", one.kind, one.ranks, one.backend)),
        format_figure(FigureUnit::kNs, one.latency_ns),
        format_figure(FigureUnit::kBytesPerSecond, one.bytes_per_s), format_bytes(one.least_bytes),
        format_bytes(one.most_bytes), format_percent(one.deviation));
  return out;
}

}  // namespace headway::cli
