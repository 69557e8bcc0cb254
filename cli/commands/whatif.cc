// SPDX-License-Identifier: MIT
#include "analyzer/whatif/whatif.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analyzer/whatif/more_ranks.h"
#include "cli/commands/calibration_option.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::cli {
namespace {

using analyzer::Fix;

class WhatIfCommand final : public Command {
 public:
  std::string_view name() const override { return "whatif"; }
  std::string_view summary() const override {
    return "Predict what each fix would gain, by replaying the recorded run with it";
  }

  void declare(CLI::App& app) override {
    app.add_option("trace", trace_, "Trace file")->required()->type_name("TRACE");
    std::string list;
    for (const Fix* fix : analyzer::all_fixes())
      list += fmt::format("{}{}", list.empty() ? "" : ", ", fix->id);
    app.add_option("--fix", fixes_,
                   fmt::format("Only this fix; may be repeated. All by default: {}", list))
        ->type_name("FIX")
        ->allow_extra_args(false);
    app.add_option("--scale", scalings_,
                   "Multiply the time of a class, op, kernel, call or range (class:, op:, kernel:, "
                   "call:, range:; * and ? stand for anything), e.g. comm_transfer=0.5 or "
                   "kernel:*gemm*=0.5; several are applied together")
        ->type_name("WHAT=FACTOR")
        ->allow_extra_args(false);
    app.add_option(
           "--ranks", ranks_,
           "Instead of fixes: the job with so many ranks, by a model of the collectives that is "
           "fitted to the recorded ones; together with --scale if given")
        ->type_name("N")
        ->check(CLI::Range(2, 1 << 20));
    app.add_flag("--compare", compare_,
                 "Beside each prediction, what two usual shortcuts would say: subtracting the "
                 "exposed time, and the longest path of the recording with changed lengths");
    app.add_flag("--json", json_, "Print JSON");
    app.add_option("-o,--output", output_, "Write to FILE instead of the terminal")
        ->type_name("FILE");
    calibration_.declare(app);
    input_.declare_options(app);
  }

  int run() override {
    std::vector<const Fix*> chosen;
    for (const std::string& id : fixes_) chosen.push_back(&find(id));
    std::unique_ptr<Analyzed> analyzed = input_.load(trace_);
    analyzer::Predictor predictor(analyzed->trace, analyzed->analysis,
                                  calibration_.load(analyzed->trace));
    if (!scalings_.empty() || ranks_ > 0) return scale(predictor);
    analyzer::WhatIf result =
        what_if(predictor, chosen.empty() ? analyzer::all_fixes() : chosen, compare_);
    write_output(output_, json_ ? render_json(result, predictor) : render_text(result, predictor));
    return exit_status(ExitCode::kOk);
  }

 private:
  static const Fix& find(const std::string& id) {
    if (const Fix* fix = analyzer::find_fix(id)) return *fix;
    std::vector<std::string> ids;
    for (const Fix* fix : analyzer::all_fixes()) ids.emplace_back(fix->id);
    std::string hint;
    for (const std::string& near : closest(id, ids, 1)) hint = " Did you mean '" + near + "'?";
    fail_usage("--fix {}: there is no such fix.{} `headway whatif --help` lists them.",
               escape_terminal(id), hint);
  }

  int scale(const analyzer::Predictor& predictor) const {
    if (!predictor.missing().empty()) {
      analyzer::WhatIf nothing;
      nothing.missing = predictor.missing();
      write_output(output_,
                   json_ ? render_json(nothing, predictor) : render_text(nothing, predictor));
      return exit_status(ExitCode::kOk);
    }
    analyzer::Scenario scenario;
    std::string text;
    if (ranks_ > 0) {
      analyzer::MoreRanks more = analyzer::with_ranks(predictor, ranks_);
      if (!more.possible) fail_usage("--ranks {}: {}.", ranks_, more.text);
      scenario = std::move(more.scenario);
      text = std::move(more.text);
    }
    for (const std::string& one : scalings_)
      scenario = scenario.with(analyzer::parse_scaling(predictor, one));
    analyzer::Prediction prediction = predictor.predict(scenario);
    write_output(output_, analyzer::render_scaling(prediction, text, predictor, json_));
    return exit_status(ExitCode::kOk);
  }

  std::string trace_;
  std::vector<std::string> fixes_;
  std::vector<std::string> scalings_;
  int ranks_ = 0;
  bool compare_ = false;
  bool json_ = false;
  std::string output_ = "-";
  CalibrationOption calibration_;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_whatif_command() {
  return std::make_unique<WhatIfCommand>();
}

}  // namespace headway::cli
