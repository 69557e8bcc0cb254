// SPDX-License-Identifier: MIT
#include "analyzer/report/json_keys.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "analyzer/report/report.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {
namespace {

using Json = nlohmann::ordered_json;

struct StaticKey {
  std::string_view path;
  std::string_view type;
  std::string_view doc;
};

constexpr StaticKey kBefore[] = {
    {"schema_version", "integer", "1. Keys are only added within a version."},
    {"headway_version", "string", "Version of the program that wrote the report."},
    {"trace", "object", "Facts about the recording."},
    {"trace.files", "array", ""},
    {"trace.files[]", "string", "As given on the command line."},
    {"trace.tool", "string", "Program that recorded the trace."},
    {"trace.tool_version", "string", "Its version."},
    {"trace.command", "string", "The recorded command line."},
    {"trace.scope", "string", "The chosen recording scope as a sentence; empty: the whole run."},
    {"trace.start_utc_ns", "integer",
     "Wall clock at time zero, since 1970; 0 when it is not known."},
    {"trace.duration_ns", "integer", "Duration of the recording."},
    {"trace.complete", "boolean", "The recorder finished normally."},
    {"trace.events", "integer", "Ranges, calls and device ops."},
    {"trace.ranks", "integer", "Ranks in the trace."},
    {"trace.devices", "array", ""},
    {"trace.devices[]", "object", ""},
    {"trace.devices[].device", "integer", "The id that the program uses."},
    {"trace.devices[].type", "integer", "0 unknown, 1 CUDA, 2 host, 3 simulated."},
    {"trace.devices[].name", "string", ""},
    {"trace.losses", "array", ""},
    {"trace.losses[]", "object", ""},
    {"trace.losses[].counter", "string", "A [loss counter](losses.md)."},
    {"trace.losses[].severity", "string", "loss, doubt or info."},
    {"trace.losses[].count", "integer", ""},
    {"trace.losses[].text", "string", "Meaning."},
    {"verdict", "string", "One sentence."},
    {"device_view", "array",
     "One object per device, over its whole span; [definitions](device-view.md)."},
    {"device_view[]", "object", ""},
    {"device_view[].rank", "integer", ""},
    {"device_view[].device", "integer", "The id that the program uses."},
    {"device_view[].span_ns", "integer", "First start to last end. The next four sum to it."},
    {"device_view[].compute_ns", "integer", "Kernels that are not communication, and memory sets."},
    {"device_view[].exposed_comm_ns", "integer", "Communication outside compute."},
    {"device_view[].exposed_copy_ns", "integer", "Copies outside compute and communication."},
    {"device_view[].idle_ns", "integer", "Nothing runs."},
    {"device_view[].comm_ns", "integer", "All communication."},
    {"device_view[].overlap_ns", "integer", "Communication under compute."},
    {"device_view[].kernels", "integer", ""},
    {"device_view[].copies", "integer", ""},
    {"device_view[].memsets", "integer", ""},
    {"steps", "object", ""},
    {"steps.count", "integer", "All steps."},
    {"steps.steady", "integer", "Steps that the figures cover."},
    {"steps.source", "string", "none, declared, named or option."},
    {"steps.how", "string", "How the steps were found, as a sentence."},
    {"steps.step_cost_ns", "integer",
     "The quantity that shares and gains refer to: the wall time of the judged stretch over its "
     "steps, on the slowest device; includes slow steps and time between steps."},
    {"steps.typical_step_ns", "integer",
     "The median step there; rare slow steps do not change it."},
    {"steps.stretch_ns", "integer",
     "The judged interval: from the start of the first steady step to the start of the step after "
     "the last one."},
    {"steps.samples_per_s", "number or null",
     "Samples of all ranks per second, from the step cost; null where the batch is not known."},
    {"steps.p50_ns", "integer",
     "Median steady step on the host, to the start of the next one; 0 without steps."},
    {"steps.p90_ns", "integer", ""},
    {"steps.max_ns", "integer", ""},
    {"steps.median_device_step_ns", "integer", "On the slowest device."},
    {"steps.p90_device_step_ns", "integer", ""},
    {"steps.max_device_step_ns", "integer", ""},
    {"steps.host_ahead_ns", "integer",
     "Median time from the end of a step on the host to its end on the device."},
    {"partition", "array", "One object per device: its step cost by class."},
    {"partition[]", "object", ""},
    {"partition[].rank", "integer", ""},
    {"partition[].device", "integer or null", "Null for a host without a device."},
    {"partition[].of", "string", "The device or host, for people."},
    {"partition[].steady_steps", "integer", ""},
    {"partition[].ns_per_step", "integer", "The step cost; the classes sum to it."},
    {"partition[].stretch_ns", "integer", "The partitioned wall time."},
    {"partition[].between_steps", "object",
     "The class between_steps by cause, per step: evaluation, checkpoint, logging, loader_restart, "
     "garbage_collection, other."},
    {"partition[].between_steps.*", "integer", ""},
    {"partition[].hidden_comm_ns", "integer", "Communication under compute; no part of the sum."},
    {"partition[].hidden_h2d_ns", "integer",
     "Copies to the device under compute; no part of the sum."},
    {"partition[].classes", "object", "By [class](time-classes.md)."},
    {"partition[].classes.*", "object", ""},
    {"partition[].classes.*.ns_per_step", "integer", ""},
    {"partition[].classes.*.share", "number", "Of the step, 0 to 1."},
    {"partition[].host_functions", "array",
     "Training thread activity outside all ranges, by stack samples; longest first."},
    {"partition[].host_functions[]", "object", ""},
    {"partition[].host_functions[].function", "string", ""},
    {"partition[].host_functions[].place", "string", "The line that takes most of this time."},
    {"partition[].host_functions[].from", "string",
     "The loop's line that calls it; empty: a line of the loop."},
    {"partition[].host_functions[].ns_per_step", "integer", ""},
    {"partition[].host_functions[].share", "number", "Of the step, 0 to 1."},
    {"partition[].host_functions[].samples", "integer", ""},
};

constexpr StaticKey kAfter[] = {
    {"findings", "array",
     "Order: found, by `worth`, each followed by the findings of the same time (`part_of`); no "
     "gain; cannot tell; fine."},
    {"findings[]", "object", ""},
    {"findings[].rule", "string", "A [rule](rules.md)."},
    {"findings[].title", "string", ""},
    {"findings[].status", "string",
     "found, no_gain (seen, but replaying without it gains less than 1 %), fine or cannot_tell."},
    {"findings[].claim", "string",
     "What holds the step back, what was checked, or what is missing."},
    {"findings[].sub_cause", "string", "Empty when the rule has none."},
    {"findings[].recoverable_ns_per_step", "integer",
     "Largest gain from removing the cause; at least the gain of each fix; 0 unless found."},
    {"findings[].share_of_step", "number", "The same as a share of the step cost, 0 to 1."},
    {"findings[].basis", "string",
     "Source of recoverable_ns_per_step: replay, or exposed where the cause could not be "
     "replayed."},
    {"findings[].exposed_ns_per_step", "integer", "Time that the rule attributes to the cause."},
    {"findings[].worth", "number",
     "Predicted gain × confidence; orders the findings. 0 without a prediction."},
    {"findings[].part_of", "string or null", "The earlier rule that explains the same time."},
    {"findings[].confidence", "number", "0 to 1: 0 is inferred, 1 is measured."},
    {"findings[].predicted_gain", "number or null",
     "Predicted gain as a share of the step; null without a prediction."},
    {"findings[].prediction", "object or null",
     "Result of replaying the run with the best known fix."},
    {"findings[].prediction.fix", "string", "ID, for `headway whatif --fix`."},
    {"findings[].prediction.kind", "string",
     "structural, modelled, or ceiling: the most it could gain."},
    {"findings[].prediction.step_ns", "integer", "Mean steady step with the fix."},
    {"findings[].prediction.low", "number", "95 % interval of predicted_gain."},
    {"findings[].prediction.high", "number", ""},
    {"findings[].prediction.recorded_step_ns", "integer",
     "Mean steady step, minus the recording cost where that is known."},
    {"findings[].prediction.at_most", "object or null",
     "The ceiling with the largest gain, where it exceeds the predicted gain."},
    {"findings[].prediction.at_most.fix", "string", ""},
    {"findings[].prediction.at_most.step_ns", "integer", ""},
    {"findings[].prediction.at_most.share", "number", "Gain, as a share of the step."},
    {"findings[].fixes", "array",
     "Fixes that gain 1 % or more, replayed one by one, most expected gain first."},
    {"findings[].fixes[]", "object", ""},
    {"findings[].fixes[].fix", "string", "ID, for `headway whatif --fix`."},
    {"findings[].fixes[].title", "string", ""},
    {"findings[].fixes[].kind", "string", "structural, modelled or ceiling."},
    {"findings[].fixes[].step_ns", "integer", "Mean steady step with the fix."},
    {"findings[].fixes[].share", "number", "Gain, as a share of the step."},
    {"findings[].fixes[].certainty", "number",
     "Evidence in the recording that the fix applies and trains as well, 0 to 1. Fixes are ordered "
     "by (low + 2 × share + high) / 4 × certainty; this interval excludes the uncertainty of the "
     "recording "
     "cost."},
    {"findings[].fixes[].low", "number", "95 % interval of share."},
    {"findings[].fixes[].high", "number", ""},
    {"findings[].fixes[].setting", "string", "Options of the reference trainer; may be empty."},
    {"findings[].cannot_predict", "string or null",
     "Why there is no prediction, where one was asked for."},
    {"findings[].evidence", "array", "Places to look at, the worst first."},
    {"findings[].evidence[]", "object", ""},
    {"findings[].evidence[].start_ns", "integer", ""},
    {"findings[].evidence[].end_ns", "integer", ""},
    {"findings[].evidence[].event", "string", "none, range, device_op or call."},
    {"findings[].evidence[].name", "string", "Name of the event."},
    {"findings[].evidence[].note", "string", ""},
    {"findings[].advice", "array", ""},
    {"findings[].advice[]", "object", ""},
    {"findings[].advice[].framework", "string", ""},
    {"findings[].advice[].text", "string", ""},
    {"findings[].advice[].knob", "string", "The exact setting or call."},
    {"findings[].advice[].current", "string",
     "The setting's value in this run; empty when unknown."},
    {"findings[].advice[].fix", "string or null", "ID of the replayed fix that this advice makes."},
    {"plan", "array",
     "The best order of fixes: those that findings advise, and those that gain more after them. "
     "Each gain is cumulative. Empty with fewer than two."},
    {"plan[]", "object", ""},
    {"plan[].fix", "string", "ID of the added fix, as in `findings[].fixes[]`."},
    {"plan[].title", "string", ""},
    {"plan[].kind", "string", "structural or modelled."},
    {"plan[].step_ns", "integer", "Mean steady step with this and all earlier fixes."},
    {"plan[].share", "number", "Their gain, as a share of the recorded step."},
    {"plan[].certainty", "number", "Certainty of the added fix."},
    {"plan[].low", "number", "95 % interval of share."},
    {"plan[].high", "number", ""},
    {"plan[].setting", "string", "Options of the reference trainer; may be empty."},
    {"fixes", "array",
     "Every known fix, replayed alone. Figures are null where it does not apply. Empty without "
     "predictions."},
    {"fixes[]", "object", ""},
    {"fixes[].fix", "string", "ID, for `headway whatif --fix`."},
    {"fixes[].title", "string", ""},
    {"fixes[].kind", "string", "structural, modelled or ceiling."},
    {"fixes[].applies", "boolean", "`headway whatif --fix` says why not."},
    {"fixes[].rules", "string", "IDs of the rules whose cause it takes away, separated by commas."},
    {"fixes[].recorded_step_ns", "integer or null",
     "Mean steady step, minus the recording cost where that is known."},
    {"fixes[].step_ns", "integer or null", "Mean steady step with the fix."},
    {"fixes[].share", "number or null",
     "Gain, as a share of the step; negative where it is slower."},
    {"fixes[].certainty", "number or null", "As in `findings[].fixes[]`."},
    {"fixes[].low", "number or null", "95 % interval of share."},
    {"fixes[].high", "number or null", ""},
    {"fixes[].setting", "string", "Options of the reference trainer; may be empty."},
    {"assumed", "array",
     "Delays that predicted gains take from other sources, because the recording shows them fewer "
     "than 20 times."},
    {"assumed[]", "object", ""},
    {"assumed[].delay", "string",
     "launch, graph_launch, kernel_gap, sync, blocking_call or batch."},
    {"assumed[].ns", "integer", ""},
    {"assumed[].origin", "string",
     "calibration, table (by GPU model) or default (for all machines)."},
    {"assumed[].source", "string", "Source of the figure, as text."},
    {"assumed[].seen", "integer", "How often the recording shows the delay."},
    {"assumed[].devices", "array", "Device ordinals; empty: the host."},
    {"assumed[].devices[]", "integer", ""},
    {"unexplained", "number",
     "Share of the step, 0 to 1, whose replay has no recorded cause; no predicted gain contains "
     "it. 0 without predictions."},
    {"recording_cost_ns", "integer",
     "Cost of recording, per step. Predicted gains exclude it. 0: unknown."},
    {"doubts", "array", "Worst first."},
    {"doubts[]", "object", ""},
    {"doubts[].severity", "string", "loss, doubt or info."},
    {"doubts[].text", "string", ""},
};

std::string type_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kText:
      return "string or null";
    case ColumnKind::kDuration:
    case ColumnKind::kTime:
    case ColumnKind::kBytes:
    case ColumnKind::kCount:
      return "integer or null";
    default:
      return "number or null";
  }
}

/// The rows of a table: their keys are its columns, and a cell that is not known is null.
void add_rows(std::vector<JsonKey>& keys, const std::string& path, const std::string& doc,
              const Table& table) {
  keys.push_back({path, "array", doc});
  keys.push_back({path + "[]", "object", ""});
  for (const Column& column : table.columns)
    keys.push_back({fmt::format("{}[].{}", path, column.id), type_of(column.kind), ""});
}

Json type_json(const std::string& type) {
  std::size_t split = type.find(" or ");
  if (split == std::string::npos) return type;
  return Json::array({type.substr(0, split), type.substr(split + 4)});
}

/// The schema of the value at `path`, made on the way there: "findings[].rule".
Json& schema_at(Json& root, std::string_view path) {
  Json* at = &root;
  while (!path.empty()) {
    if (path.starts_with("[]")) {
      at = &(*at)["items"];
      path.remove_prefix(2);
      continue;
    }
    if (path.front() == '.') path.remove_prefix(1);
    std::size_t end = std::min(path.find_first_of(".["), path.size());
    std::string name(path.substr(0, end));
    path.remove_prefix(end);
    if (name == "*") {
      at = &(*at)["additionalProperties"];
    } else {
      // References into an ordered object do not survive another key of it, so they are taken last.
      if (!(*at)["properties"].contains(name)) {
        (*at)["required"].push_back(name);
        (*at)["properties"][name] = Json::object();
      }
      at = &(*at)["properties"][name];
    }
  }
  return *at;
}

}  // namespace

std::vector<JsonKey> report_json_keys() {
  std::vector<JsonKey> keys;
  for (const StaticKey& key : kBefore)
    keys.push_back({std::string(key.path), std::string(key.type), std::string(key.doc)});
  add_rows(keys, "ops", "Rows of the [table](stats.md) ops.", op_table({}, {}));
  add_rows(keys, "kernels", "Rows of the table kernels.", kernel_table({}, {}));
  add_rows(keys, "collectives", "Rows of the table collectives.", collective_table({}, {}));
  for (const StaticKey& key : kAfter)
    keys.push_back({std::string(key.path), std::string(key.type), std::string(key.doc)});
  add_rows(keys, "ranks", "Rows of the table ranks.", rank_table({}, {}));
  keys.push_back({"critical_path", "object", "The critical path, in total and per step."});
  keys.push_back({"critical_path.*", "any", ""});
  keys.push_back({"*", "any", "Only for jobs of several ranks: clocks, imbalance, …"});
  return keys;
}

Json report_json_schema() {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", fmt::format("headway report --json, version {}", kReportSchemaVersion)},
               {"type", "object"}};
  for (const JsonKey& key : report_json_keys()) {
    Json& schema = schema_at(root, key.path);
    if (key.type != "any") schema["type"] = type_json(key.type);
    if (schema.is_null()) schema = Json::object();
    if (!key.doc.empty()) schema["description"] = key.doc;
  }
  root["properties"]["schema_version"]["const"] = kReportSchemaVersion;
  return root;
}

}  // namespace headway::analyzer
