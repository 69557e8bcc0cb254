// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/whatif/whatif.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using Json = nlohmann::ordered_json;

/// The change of the step, such as "−12.3 %".
std::string change(DurationNs gain, DurationNs step) {
  double share = ratio(gain, step);
  return fmt::format("{}{}", gain.ns >= 0 ? "−" : "+", format_percent(std::fabs(share)));
}

std::string interval_text(const Prediction& prediction, DurationNs step) {
  auto share = [&](double ns) {
    return ns / static_cast<double>(std::max<std::int64_t>(1, step.ns));
  };
  return fmt::format("{} to {} %", format_number(100 * share(prediction.gain_ns.low)),
                     format_number(100 * share(prediction.gain_ns.high)));
}

std::string label_of(const Elasticity& one, const Predictor& predictor) {
  if (one.op.value == 0) return std::string(info(one.time_class).label);
  return shorten(escape_terminal(predictor.analysis().attribution.ops[one.op.value].name), 40);
}

std::string basis_text(const Prediction& prediction) {
  return fmt::format("{:.0f}/{:.0f}/{:.0f}", 100 * prediction.basis[0], 100 * prediction.basis[1],
                     100 * prediction.basis[2]);
}

std::string fixes_text(const WhatIf& what_if) {
  const DurationNs step = what_if.baseline.recorded;
  std::string out = fmt::format("{:<24} {:>9} {:>9} {:>18} {:>11}  {:<10} {}\n", "Fix", "step",
                                "change", "gain, 95 %", "basis %", "kind", "what changes");
  for (const FixPrediction& one : what_if.fixes) {
    if (!one.applies) continue;
    out += fmt::format("{:<24} {:>9} {:>9} {:>18} {:>11}  {:<10} {}\n", one.fix->id,
                       format_duration(one.prediction.step), change(one.prediction.gain, step),
                       interval_text(one.prediction, step), basis_text(one.prediction),
                       fix_kind_id(one.fix->kind), one.text);
  }
  for (const FixPrediction& one : what_if.fixes) {
    if (!one.usual) continue;
    out += fmt::format(
        "{:<24} {:>9} by subtracting its exposed time, {} by the longest recorded path\n",
        one.fix->id, format_duration(one.usual->subtraction.step),
        format_duration(one.usual->longest_path.step));
  }
  for (const FixPrediction& one : what_if.fixes) {
    if (!one.applies) out += fmt::format("{:<24} does not apply: {}\n", one.fix->id, one.text);
  }
  return out;
}

/// Where the time without a recorded cause lies, if it is at least 1 % of the step.
std::string late_text(const WhatIf& what_if, const Predictor& predictor) {
  constexpr double kWorthSaying = 0.01;
  constexpr std::size_t kShown = 4;
  std::string out;
  std::size_t shown = 0;
  for (const Unexplained& one : what_if.baseline.late) {
    if (ratio(one.time, what_if.baseline.recorded) < kWorthSaying || shown++ == kShown) break;
    out += fmt::format("  {} late by {} per step, after: {}\n",
                       shorten(escape_terminal(predictor.trace().strings[one.name]), 60),
                       format_duration(one.time), info(one.after).doc);
  }
  return out;
}

/// The cost of recording, which the predictions leave out.
std::string cost_text(const Baseline& baseline) {
  const RecordingCost& cost = baseline.cost;
  if (cost.of_step.ns <= 0) return {};
  return fmt::format(
      "Recorded {}, of which {} is the cost of recording: without it the host issues work in {} "
      "less "
      "time.\n",
      format_duration(baseline.recorded + cost.of_step), format_duration(cost.of_step),
      format_percent(cost.of_host));
}

/// The replay's assumptions: figures that do not come from the recording.
std::string assumed_text(const Predictor& predictor) {
  std::string out;
  for (const Assumption& one : predictor.assumptions())
    out += fmt::format("{} {}\n", out.empty() ? "Assumed:" : "        ",
                       escape_terminal(to_text(one)));
  return out;
}

Json assumed_json(const Predictor& predictor) {
  Json json = Json::array();
  for (const Assumption& one : predictor.assumptions())
    json.push_back({{"delay", one.delay},
                    {"ns", one.value.ns},
                    {"origin", origin_id(one.origin)},
                    {"source", one.source},
                    {"seen", one.seen},
                    {"devices", one.devices}});
  return json;
}

Json baseline_json(const Baseline& baseline) {
  return {{"steps", baseline.steps},
          {"step_ns", baseline.recorded.ns},
          {"median_step_ns", baseline.median.ns},
          {"replayed_ns", baseline.replayed.ns},
          {"recording_cost_ns", baseline.cost.of_step.ns},
          {"residual", baseline.residual}};
}

Json prediction_json(const Prediction& prediction, DurationNs step) {
  return {{"step_ns", prediction.step.ns},
          {"median_step_ns", prediction.median.ns},
          {"gain_ns", prediction.gain.ns},
          {"gain_low_ns", std::llround(prediction.gain_ns.low)},
          {"gain_high_ns", std::llround(prediction.gain_ns.high)},
          {"gain_share", ratio(prediction.gain, step)},
          {"basis",
           {{"measured", prediction.basis[0]},
            {"calibrated", prediction.basis[1]},
            {"modelled", prediction.basis[2]}}}};
}

}  // namespace

std::string render_text(const WhatIf& what_if, const Predictor& predictor) {
  if (!what_if.missing.empty())
    return fmt::format("Cannot predict, because {}.\n", what_if.missing);
  const Baseline& baseline = what_if.baseline;
  std::string out =
      fmt::format("{} steady steps, {} each; replayed {}: {} of the step has no recorded cause\n",
                  baseline.steps, format_duration(baseline.recorded),
                  format_duration(baseline.replayed), format_percent(baseline.residual));
  out += cost_text(baseline) + late_text(what_if, predictor) + assumed_text(predictor) + "\n";
  out += fixes_text(what_if);
  out +=
      "Basis of the predicted critical path: measured, recorded delay, formula.\nA ceiling is the "
      "most that any fix of its kind could gain.\n";
  if (!what_if.best.empty()) {
    out += "\nTogether, each with all previous ones (without ceilings):\n";
    for (const Combination& one : what_if.best) {
      out += fmt::format("  + {:<22} {:>9} {:>9} {:>18}\n", one.fix->id,
                         format_duration(one.together.step),
                         change(one.together.gain, baseline.recorded),
                         interval_text(one.together, baseline.recorded));
    }
  }
  auto list = [&](std::string_view title, const std::vector<Elasticity>& all) {
    if (all.empty()) return;
    out += fmt::format("\n{:<42} {:>11} {:>20}\n", title, "on the path", "step at 10 % less");
    for (const Elasticity& one : all) {
      out += fmt::format("{:<42} {:>11} {:>20}\n", label_of(one, predictor),
                         format_percent(ratio(one.on_path, baseline.recorded)),
                         change(one.gain, baseline.recorded));
    }
  };
  list("Class", what_if.classes);
  list("Op", what_if.ops);
  return out;
}

std::string render_scaling(const Prediction& prediction, std::string_view text,
                           const Predictor& predictor, bool json) {
  const Baseline& baseline = predictor.baseline();
  if (json) {
    Json root{{"schema", "headway.whatif"}, {"version", 1}, {"trace", predictor.trace().path}};
    root["baseline"] = baseline_json(baseline);
    root["assumed"] = assumed_json(predictor);
    root["scaled"] = prediction_json(prediction, baseline.recorded);
    if (!text.empty()) root["scaled"]["text"] = text;
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return fmt::format("Step {} → {} ({}; gain {} of the step, 95 %)\n{}{}{}",
                     format_duration(baseline.recorded), format_duration(prediction.step),
                     change(prediction.gain, baseline.recorded),
                     interval_text(prediction, baseline.recorded), text, text.empty() ? "" : "\n",
                     assumed_text(predictor));
}

std::string render_json(const WhatIf& what_if, const Predictor& predictor) {
  Json root{{"schema", "headway.whatif"}, {"version", 1}, {"trace", predictor.trace().path}};
  if (!what_if.missing.empty()) {
    root["cannot_predict"] = what_if.missing;
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  const DurationNs step = what_if.baseline.recorded;
  root["baseline"] = baseline_json(what_if.baseline);
  Json& late = root["baseline"]["late"] = Json::array();
  for (const Unexplained& one : what_if.baseline.late) {
    late.push_back({{"name", predictor.trace().strings[one.name]},
                    {"after", info(one.after).id},
                    {"ns_per_step", one.time.ns}});
  }
  root["assumed"] = assumed_json(predictor);
  Json& fixes = root["fixes"] = Json::array();
  for (const FixPrediction& one : what_if.fixes) {
    Json fix{{"id", one.fix->id},         {"title", one.fix->title},
             {"rule", one.fix->rule},     {"kind", fix_kind_id(one.fix->kind)},
             {"applies", one.applies},    {"text", one.text},
             {"change", one.fix->change}, {"cannot_know", one.fix->cannot_know},
             {"setting", one.setting}};
    if (one.applies) fix.update(prediction_json(one.prediction, step));
    if (one.usual)
      fix["usual_methods"] = {{"subtraction_step_ns", one.usual->subtraction.step.ns},
                              {"subtraction_median_step_ns", one.usual->subtraction.median.ns},
                              {"longest_path_step_ns", one.usual->longest_path.step.ns},
                              {"longest_path_median_step_ns", one.usual->longest_path.median.ns}};
    fixes.push_back(std::move(fix));
  }
  Json& best = root["together"] = Json::array();
  for (const Combination& one : what_if.best) {
    Json entry{{"add", one.fix->id}};
    entry.update(prediction_json(one.together, step));
    best.push_back(std::move(entry));
  }
  auto list = [&](const char* key, const char* name, const std::vector<Elasticity>& all) {
    Json& rows = root[key] = Json::array();
    for (const Elasticity& one : all) {
      std::string id = one.op.value != 0 ? predictor.analysis().attribution.ops[one.op.value].name
                                         : std::string(info(one.time_class).id);
      rows.push_back({{name, id},
                      {"path_ns", one.on_path.ns},
                      {"gain_of_a_tenth_ns", one.gain.ns},
                      {"gain_of_a_tenth_share", ratio(one.gain, step)}});
    }
  };
  list("classes", "class", what_if.classes);
  list("ops", "op", what_if.ops);
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace headway::analyzer
