// SPDX-License-Identifier: MIT
// `report --json`. Its keys are declared in json_keys.cc and only ever added to.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/partition/sampled_work.h"
#include "analyzer/report/critical_path.h"
#include "analyzer/report/formats.h"
#include "analyzer/report/job.h"
#include "analyzer/stats/tables.h"
#include "analyzer/whatif/fix.h"
#include "common/statistics.h"
#include "common/text.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using Json = nlohmann::ordered_json;
using trace::Trace;

Json text(std::string_view value) {
  return to_valid_utf8(value);
}

Json trace_section(const Trace& trace) {
  Json json;
  json["files"] = Json::array({text(trace.path)});
  json["tool"] = text(trace.meta_value(trace::meta::kProducer));
  json["tool_version"] = text(trace.meta_value(trace::meta::kToolVersion));
  json["command"] = text(trace.meta_value(trace::meta::kCommand));
  json["scope"] = text(trace.meta_value(trace::meta::kScope));
  json["start_utc_ns"] = trace.start_utc_ns;
  json["duration_ns"] = trace.end.ns;
  json["complete"] = trace.complete;
  json["events"] = trace.event_count();
  std::set<std::int32_t> ranks;
  for (const trace::Process& process : trace.processes) ranks.insert(process.rank);
  json["ranks"] = std::max<std::size_t>(1, ranks.size());
  json["devices"] = Json::array();
  for (const trace::Device& device : trace.devices) {
    json["devices"].push_back({{"device", device.ordinal},
                               {"type", static_cast<int>(device.type)},
                               {"name", text(device.name)}});
  }
  json["losses"] = Json::array();
  for (const trace::LossCount& loss : trace.losses) {
    json["losses"].push_back({{"counter", text(loss.name)},
                              {"severity", loss.severity},
                              {"count", loss.count},
                              {"text", text(loss.text)}});
  }
  return json;
}

Json device_section(const Trace& trace, const Analysis& analysis) {
  Json json = Json::array();
  for (const DeviceView& view : analysis.device_views) {
    json.push_back({{"rank", rank_of(trace, view.device)},
                    {"device", trace.devices[view.device.value].ordinal},
                    {"span_ns", view.span.ns},
                    {"compute_ns", view.compute.ns},
                    {"exposed_comm_ns", view.exposed_comm.ns},
                    {"exposed_copy_ns", view.exposed_copy.ns},
                    {"idle_ns", view.idle.ns},
                    {"comm_ns", view.comm.ns},
                    {"overlap_ns", view.overlap.ns},
                    {"kernels", view.kernels},
                    {"copies", view.copies},
                    {"memsets", view.memsets}});
  }
  return json;
}

Json steps_section(const Analysis& analysis) {
  std::vector<double> durations = analysis.steps.steady_durations_ns();
  auto p = [&](double q) { return static_cast<std::int64_t>(percentile_sorted(durations, q)); };
  const std::optional<double> rate = analysis.samples_per_s();
  return {{"count", analysis.steps.all.size()},
          {"steady", analysis.steps.steady.size()},
          {"source", step_source_id(analysis.steps.source)},
          {"how", text(analysis.steps.how)},
          {"step_cost_ns", analysis.step_cost.per_step().ns},
          {"typical_step_ns", analysis.step_cost.typical.ns},
          {"stretch_ns", analysis.step_cost.stretch.ns},
          {"samples_per_s", rate ? Json(*rate) : Json(nullptr)},
          {"p50_ns", p(0.5)},
          {"p90_ns", p(0.9)},
          {"max_ns", p(1)},
          {"median_device_step_ns", analysis.median_step.ns},
          {"p90_device_step_ns", analysis.step_times.p90.ns},
          {"max_device_step_ns", analysis.step_times.max.ns},
          {"host_ahead_ns", analysis.step_times.host_ahead.ns}};
}

Json partition_section(const Trace& trace, const Analysis& analysis) {
  Json json = Json::array();
  for (const DevicePartition& partition : analysis.partitions) {
    Json device;
    DurationNs total = partition.per_steady_step.total();
    device["rank"] = rank_of(trace, partition.device);
    device["device"] = nullptr;
    if (partition.device.valid()) device["device"] = trace.devices[partition.device.value].ordinal;
    device["of"] = text(partition_label(trace, partition));
    device["steady_steps"] = partition.steady_steps;
    device["ns_per_step"] = total.ns;
    device["stretch_ns"] = partition.stretch.ns;
    device["between_steps"] = Json::object();
    for (const BetweenCauseInfo& cause : between_causes())
      device["between_steps"][std::string(cause.id)] = partition.between[cause.cause].ns;
    device["hidden_comm_ns"] = partition.hidden_comm.ns;
    device["hidden_h2d_ns"] = partition.hidden_h2d.ns;
    device["classes"] = Json::object();
    for (const TimeClassInfo& c : time_classes()) {
      DurationNs time = partition.per_steady_step[c.time_class];
      device["classes"][std::string(c.id)] = {{"ns_per_step", time.ns},
                                              {"share", ratio(time, total)}};
    }
    device["host_functions"] = Json::array();
    for (const SampledWork& work : sampled_works(trace, analysis.steps, partition).works)
      device["host_functions"].push_back({{"function", text(work.function)},
                                          {"place", text(work.place)},
                                          {"from", text(work.from)},
                                          {"ns_per_step", work.per_step.ns},
                                          {"share", ratio(work.per_step, total)},
                                          {"samples", work.samples}});
    json.push_back(device);
  }
  return json;
}

Json fix_json(const PredictedGain& gain) {
  const Fix* fix = find_fix(gain.fix);
  return {{"fix", gain.fix},
          {"title", fix ? fix->title : ""},
          {"kind", fix ? fix_kind_id(fix->kind) : ""},
          {"step_ns", gain.step.ns},
          {"share", gain.share},
          {"certainty", gain.certainty},
          {"low", gain.low},
          {"high", gain.high},
          {"setting", text(gain.setting)}};
}

/// Empty without predictions.
Json fixes_section(const Analysis& analysis) {
  Json json = Json::array();
  if (analysis.fixes.empty()) return json;
  for (const Fix* fix : all_fixes()) {
    const auto gain = std::ranges::find(analysis.fixes, fix->id, &PredictedGain::fix);
    const bool applies = gain != analysis.fixes.end();
    Json one =
        applies
            ? fix_json(*gain)
            : Json{{"fix", fix->id},     {"title", fix->title}, {"kind", fix_kind_id(fix->kind)},
                   {"step_ns", nullptr}, {"share", nullptr},    {"certainty", nullptr},
                   {"low", nullptr},     {"high", nullptr},     {"setting", fix->trainer_switch}};
    one["applies"] = applies;
    one["rules"] = fix->rule;
    one["recorded_step_ns"] = applies ? Json(gain->recorded.ns) : Json(nullptr);
    json.push_back(std::move(one));
  }
  return json;
}

Json findings_section(const Trace& trace, const Analysis& analysis) {
  static constexpr std::array<const char*, 4> kKinds = {"none", "range", "device_op", "call"};
  Json json = Json::array();
  for (const Finding& finding : analysis.findings) {
    Json item = {{"rule", finding.rule},
                 {"title", finding.title},
                 {"status", status_id(finding.status)},
                 {"claim", text(finding.claim)},
                 {"sub_cause", text(finding.sub_cause)},
                 {"recoverable_ns_per_step", finding.recoverable_per_step.ns},
                 {"share_of_step", finding.share_of_step},
                 {"basis", figure_basis_id(finding.basis)},
                 {"exposed_ns_per_step", finding.exposed_per_step.ns},
                 {"confidence", finding.confidence},
                 {"worth", finding.worth},
                 {"part_of", nullptr},
                 {"predicted_gain", nullptr},
                 {"prediction", nullptr},
                 {"cannot_predict", nullptr}};
    if (const auto& gain = finding.predicted) {
      item["predicted_gain"] = gain->share;
      item["prediction"] = {
          {"fix", gain->fix}, {"step_ns", gain->step.ns}, {"low", gain->low}, {"high", gain->high}};
      if (const Fix* fix = find_fix(gain->fix)) item["prediction"]["kind"] = fix_kind_id(fix->kind);
      item["prediction"]["recorded_step_ns"] = gain->recorded.ns;
      Json& most = item["prediction"]["at_most"] = nullptr;
      if (const auto& ceiling = finding.at_most)
        most = {{"fix", ceiling->fix}, {"step_ns", ceiling->step.ns}, {"share", ceiling->share}};
    }
    if (!finding.part_of.empty()) item["part_of"] = finding.part_of;
    item["fixes"] = Json::array();
    for (const PredictedGain& gain : finding.fixes) item["fixes"].push_back(fix_json(gain));
    if (!finding.unpredicted.empty()) item["cannot_predict"] = text(finding.unpredicted);
    item["evidence"] = Json::array();
    for (const Evidence& evidence : finding.evidence) {
      item["evidence"].push_back({{"start_ns", evidence.where.begin.ns},
                                  {"end_ns", evidence.where.end.ns},
                                  {"event", kKinds[static_cast<std::size_t>(evidence.event.kind)]},
                                  {"name", text(name_of(trace, evidence.event))},
                                  {"note", text(evidence.note)}});
    }
    item["advice"] = Json::array();
    for (const Advice& advice : finding.advice) {
      item["advice"].push_back({{"framework", advice.framework},
                                {"text", text(advice.text)},
                                {"knob", text(advice.knob)},
                                {"current", text(advice.current)},
                                {"fix", nullptr}});
      if (!advice.fix.empty()) item["advice"].back()["fix"] = advice.fix;
    }
    json.push_back(item);
  }
  return json;
}

}  // namespace

std::string render_json(const Trace& trace, const Analysis& analysis,
                        const ReportOptions& options) {
  Json json;
  json["schema_version"] = kReportSchemaVersion;
  json["headway_version"] = options.tool_version;
  json["trace"] = trace_section(trace);
  json["verdict"] = text(verdict(trace, analysis));
  json["device_view"] = device_section(trace, analysis);
  json["steps"] = steps_section(analysis);
  json["partition"] = partition_section(trace, analysis);
  json["critical_path"] = critical_path_json(trace, analysis);
  std::vector<Table> tables =
      make_tables(trace, analysis, {op_table, kernel_table, collective_table});
  json["ops"] = to_json(tables[0])["rows"];
  json["kernels"] = to_json(tables[1])["rows"];
  json["collectives"] = to_json(tables[2])["rows"];
  json["findings"] = findings_section(trace, analysis);
  json["plan"] = Json::array();
  for (const PredictedGain& gain : analysis.plan) json["plan"].push_back(fix_json(gain));
  json["fixes"] = fixes_section(analysis);
  json["assumed"] = Json::array();
  for (const Assumption& one : analysis.assumed)
    json["assumed"].push_back({{"delay", one.delay},
                               {"ns", one.value.ns},
                               {"origin", origin_id(one.origin)},
                               {"source", text(one.source)},
                               {"seen", one.seen},
                               {"devices", one.devices}});
  json["unexplained"] = analysis.unexplained;
  json["recording_cost_ns"] = analysis.recording_cost.ns;
  json["sampled_steps"] = analysis.sampled_steps;
  json["doubts"] = Json::array();
  for (const Doubt& doubt : analysis.doubts)
    json["doubts"].push_back({{"severity", doubt.severity}, {"text", text(doubt.text)}});
  add_ranks(json, trace, analysis);
  return json.dump(2) + "\n";
}

}  // namespace headway::analyzer
