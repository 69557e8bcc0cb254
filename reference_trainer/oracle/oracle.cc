// SPDX-License-Identifier: MIT
#include "reference_trainer/oracle/oracle.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/error.h"
#include "common/statistics.h"
#include "common/text.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/oracle/step_truth.h"

namespace headway::trainer {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kSchemaVersion = 1;

constexpr std::string_view kEdgeNames[] = {"stream", "launch",     "event", "queue", "sync",
                                           "engine", "collective", "batch", "slot",  "worker"};

Json planted_json(const OracleFacts& facts) {
  const EffectiveSettings& settings = *facts.settings;
  const Preset::Values planted = settings.planted();
  const std::optional<Settings> without = settings.without_planted();
  if (planted.empty() || !without) return nullptr;
  Json switches = Json::object();
  for (const auto& [name, value] : planted)
    if (find_switch(name).get(*without) != value)
      switches[std::string(name)] = {{"value", value},
                                     {"without", find_switch(name).get(*without)}};
  return {{"rule", find_preset(settings.preset()).rule}, {"switches", std::move(switches)}};
}

/// Switches that differ from their defaults and can trigger a rule: hints for runs without a
/// preset.
Json suspects_json(const EffectiveSettings& settings) {
  Json all = Json::array();
  const Settings defaults;
  for (const Switch& one : all_switches()) {
    const std::string value = one.get(settings.values());
    if (one.provokes.empty() || value == one.get(defaults)) continue;
    all.push_back({{"switch", one.name},
                   {"value", value},
                   {"default", one.get(defaults)},
                   {"rules", one.provokes}});
  }
  return all;
}

Json gain_json(const OracleFacts& facts) {
  if (!facts.mean_step_s_without) return nullptr;
  const double with_s = facts.result->mean_step_s();
  const double gain = with_s - *facts.mean_step_s_without;
  return {{"mean_step_ns_without", *facts.mean_step_s_without * 1e9},
          {"gain_ns_per_step", gain * 1e9},
          {"gain_share", with_s > 0 ? gain / with_s : 0}};
}

Json host_steps_json(const RunResult& result) {
  Json steps = Json::array();
  for (const StepRecord& step : result.steps)
    steps.push_back({{"step", step.step},
                     {"duration_ns", step.duration_s * 1e9},
                     {"input_wait_ns", step.input_wait_s * 1e9}});
  return steps;
}

Json step_json(const StepTruth& step) {
  Json classes = Json::object();
  for (std::size_t i = 0; i < kTruthClasses; ++i)
    classes[std::string(name_of(static_cast<TruthClass>(i)))] = step.ns[i];
  return {{"step", step.step},
          {"start_ns", step.start},
          {"end_ns", step.end},
          {"classes_ns", std::move(classes)},
          {"hidden_comm_ns", step.hidden_comm_ns},
          {"hidden_copy_ns", step.hidden_copy_ns}};
}

/// Written without the JSON library, because edges are most of the file.
void write_edges(std::ofstream& file, const sim::Recording& recording) {
  fmt::memory_buffer text;
  bool first = true;
  for (const sim::Edge& edge : recording.edges) {
    fmt::format_to(std::back_inserter(text), "{}[\"{}\",{},{},{},{}]", first ? "\n" : ",\n",
                   kEdgeNames[static_cast<std::size_t>(edge.kind)], edge.from, edge.to, edge.lag,
                   edge.rank);
    first = false;
    if (text.size() < (1 << 20)) continue;
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  }
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
}

void write_ranks(std::ofstream& file, const OracleFacts& facts) {
  const sim::SimulatedRun& run = *facts.simulated;
  const std::int64_t latency = run.gpu.costs->launch_latency_ns;
  bool first = true;
  for (const sim::Recording& recording : run.recordings) {
    Json steps = Json::array();
    for (const StepTruth& step :
         step_truths(recording, with_micro_batches(facts.settings->values()).accumulate, latency))
      steps.push_back(step_json(step));
    file << (first ? "\n" : ",\n") << "{\"rank\":" << recording.rank
         << ",\"end_ns\":" << recording.end << ",\"steps\":" << steps.dump() << ",\"edges\":[";
    write_edges(file, recording);
    file << "]}";
    first = false;
  }
}

/// The drawn figures, and the efficiency of kernels by op type.
Json world_json(const sim::DrawnWorld& world) {
  if (!world.drawn()) return nullptr;
  Json drawn = Json::object();
  for (const auto& [name, value] : sim::describe(world)) drawn[name] = value;
  Json& families = drawn["efficiency"] = Json::object();
  for (const OpDefinition* op : all_ops())
    families[std::string(op->type)] = world.efficiency(op->type);
  return drawn;
}

Json head_json(const OracleFacts& facts) {
  const EffectiveSettings& settings = *facts.settings;
  Json root = {{"schema_version", kSchemaVersion},
               {"preset", settings.preset()},
               {"device", find_switch("device").get(settings.values())},
               {"ranks", settings.values().ranks},
               {"mean_step_ns", facts.result->mean_step_s() * 1e9},
               {"planted", planted_json(facts)},
               {"without_planted", gain_json(facts)},
               {"suspects", suspects_json(settings)}};
  if (facts.simulated) {
    root["gpu"] = facts.simulated->gpu.model->id;
    root["launch_latency_ns"] = facts.simulated->gpu.costs->launch_latency_ns;
    root["kernel_gap_ns"] = facts.simulated->gpu.costs->kernel_gap_ns;
    root["world"] = world_json(*facts.simulated->world);
    root["edge_columns"] = {"kind", "from", "to", "lag_ns", "rank_of_from"};
  } else {
    root["steps"] = host_steps_json(*facts.result);
  }
  return root;
}

}  // namespace

void write_oracle(const std::filesystem::path& path, const OracleFacts& facts) {
  std::ofstream file(path);
  std::string head = head_json(facts).dump(1);
  if (facts.simulated) {
    head.resize(head.rfind('\n'));  // removes the closing brace, so that members can follow
    file << head << ",\n \"truth\": [";
    write_ranks(file, facts);
    file << "]\n}\n";
  } else {
    file << head << '\n';
  }
  file.close();
  if (!file)
    fail_input("{}: cannot write the oracle: {}.", escape_terminal(path.string()),
               system_error_text(errno));
}

}  // namespace headway::trainer
