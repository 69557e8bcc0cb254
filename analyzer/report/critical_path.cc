// SPDX-License-Identifier: MIT
#include "analyzer/report/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/report/formats.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using Json = nlohmann::ordered_json;

/// Kinds by time, largest first; those without time are left out.
std::vector<PathKind> kinds_by_time(const CriticalPath& path) {
  std::vector<PathKind> kinds;
  for (const PathKindInfo& kind : path_kinds()) {
    if (path[kind.kind].ns > 0) kinds.push_back(kind.kind);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [&](PathKind a, PathKind b) { return path[a] > path[b]; });
  return kinds;
}

Json delay_json(const Delay& delay) {
  return {{"p5_ns", delay.p5.ns},
          {"p50_ns", delay.p50.ns},
          {"p95_ns", delay.p95.ns},
          {"samples", delay.samples}};
}

Json times_json(const std::array<DurationNs, kPathKindCount>& times) {
  Json json = Json::object();
  for (const PathKindInfo& kind : path_kinds())
    json[std::string(kind.id)] = times[static_cast<std::size_t>(kind.kind)].ns;
  return json;
}

}  // namespace

std::string critical_path_sentence(const Analysis& analysis) {
  const CriticalPath& path = analysis.critical_path;
  if (path.pieces.empty()) return "";
  std::string out;
  for (PathKind kind : kinds_by_time(path)) {
    double share = ratio(path[kind], path.window.length());
    if (share < 0.01) break;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", format_percent(share), info(kind).label);
  }
  return fmt::format("{} ({} of it inferred from the schedule)", out,
                     format_percent(ratio(path.inferred, path.window.length())));
}

std::string critical_path_text(const trace::Trace& trace, const Analysis& analysis,
                               std::size_t width) {
  constexpr std::size_t kRows = 4;
  constexpr std::size_t kBeforeName = 38;
  std::string sentence = critical_path_sentence(analysis);
  if (sentence.empty()) return "";
  std::string out = "\nCritical path: what the end of the steps waited for\n" +
                    wrap_text(sentence, width, "  ", "  ");
  Table table = critical_path_table(trace, analysis);
  for (std::size_t i = 0; i < std::min(kRows, table.rows.size()); ++i) {
    const auto& row = table.rows[i];
    out += fmt::format("  {:<14} {:>10} {:>8}  {}\n", std::get<std::string>(row[0]),
                       display(table.columns[2], row[2]), display(table.columns[3], row[3]),
                       shorten(escape_terminal(std::get<std::string>(row[1])),
                               std::max(width, kBeforeName + 12) - kBeforeName));
  }
  return out;
}

nlohmann::ordered_json critical_path_json(const trace::Trace& trace, const Analysis& analysis) {
  const CriticalPath& path = analysis.critical_path;
  Json json;
  json["begin_ns"] = path.window.begin.ns;
  json["end_ns"] = path.window.end.ns;
  json["steps"] = path.steps;
  json["pieces"] = path.pieces.size();
  json["ns"] = times_json(path.of_kind);
  json["inferred_ns"] = path.inferred.ns;
  json["per_step"] = Json::array();
  for (const CriticalPath::StepTimes& step : path.of_step) {
    json["per_step"].push_back({{"step", analysis.steps.all[step.step].number},
                                {"ns", step.interval.length().ns},
                                {"of_kind", times_json(step.of_kind)}});
  }
  std::vector<Table> tables = make_tables(trace, analysis, {critical_path_table, slack_table});
  json["what"] = to_json(tables[0])["rows"];
  json["ops"] = to_json(tables[1])["rows"];
  Json& graph = json["graph"];
  graph["tasks"] = path.tasks;
  graph["edges"] = Json::array();
  for (const EdgeKindInfo& kind : edge_kinds()) {
    const EdgeCount& count = path.edges[static_cast<std::size_t>(kind.kind)];
    if (count.edges == 0 && count.contradicted == 0) continue;
    graph["edges"].push_back({{"kind", kind.id},
                              {"count", count.edges},
                              {"inferred", count.inferred},
                              {"contradicted", count.contradicted}});
  }
  graph["delays"] = Json::array();
  for (std::uint32_t d = 0; d < path.calibration.devices.size(); ++d) {
    const DeviceDelays& delays = path.calibration.devices[d];
    graph["delays"].push_back({{"device", trace.devices[d].ordinal},
                               {"launch", delay_json(delays.launch)},
                               {"graph_launch", delay_json(delays.graph_launch)},
                               {"stream", delay_json(delays.stream)},
                               {"sync", delay_json(delays.sync)}});
  }
  return json;
}

}  // namespace headway::analyzer
