// SPDX-License-Identifier: MIT
#include "analyzer/whatif/whatif.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analyzer/whatif/more_ranks.h"
#include "analyzer/whatif/timeline_json.h"
#include "analyzer/whatif/together.h"
#include "cli/commands/calibration_option.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/pager.h"
#include "cli/commands/progress.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::cli {
namespace {

using analyzer::Fix;

class WhatIfCommand final : public Command {
 public:
  std::string_view name() const override { return "whatif"; }
  std::string_view summary() const override {
    return "Predict each fix's gain by replaying the recorded run with it";
  }
  std::vector<Example> examples() const override {
    return {
        {"headway whatif run.sqlite", "every known fix, by gain"},
        {"headway whatif run.sqlite --fix remove-syncs --fix half-precision", "two fixes together"},
        {"headway whatif run.sqlite --scale comm_transfer=0.5", "a link twice as fast"}};
  }

  void declare(CLI::App& app) override {
    app.add_option(
           "trace", traces_,
           "Trace file, or all ranks of a job: several files, a folder, or a quoted pattern")
        ->required()
        ->type_name("TRACE");
    std::string list;
    for (const Fix* fix : analyzer::all_fixes())
      list += fmt::format("{}{}", list.empty() ? "" : ", ", fix->id);
    std::string on_request;
    for (const Fix* fix : analyzer::fixes_on_request())
      on_request += fmt::format("{}{}", on_request.empty() ? "" : ", ", fix->id);
    app.add_option("--fix", fixes_,
                   fmt::format("Only this fix; may be repeated. Default: all: {}. Only on request, "
                               "because they change what is trained: {}",
                               list, on_request))
        ->type_name("FIX")
        ->allow_extra_args(false);
    app.add_option("--scale", scalings_,
                   "Multiply the time of a class, op, kernel, call or range (class:, op:, kernel:, "
                   "call:, range:; * and ? are wildcards), e.g. comm_transfer=0.5 or "
                   "kernel:*gemm*=0.5; may be repeated")
        ->type_name("WHAT=FACTOR")
        ->allow_extra_args(false);
    app.add_option("--ranks", ranks_,
                   "Instead of fixes: the job with this many ranks, using collective models fitted "
                   "to the recording; combines with --scale")
        ->type_name("N")
        ->check(CLI::Range(2, 1 << 20));
    app.add_flag("--compare", compare_,
                 "Also print two common shortcuts: subtracting the exposed time, and the longest "
                 "path of the recording with changed lengths");
    app.add_option("--timeline", timeline_,
                   "Also write the recorded and the predicted step to FILE, as JSON for Perfetto "
                   "(ui.perfetto.dev). With all --fix fixes together, else the best one; or with "
                   "--scale and --ranks")
        ->type_name("FILE");
    app.add_flag("--json", json_, "Print JSON");
    app.add_option("-o,--output", output_, "Write to FILE instead of the terminal")
        ->type_name("FILE");
    calibration_.declare(app);
    input_.declare_options(app);
    input_.declare_unrecorded_step(app);
    declare_pager(app);
  }

  int run() override {
    std::vector<const Fix*> chosen;
    for (const std::string& id : fixes_) chosen.push_back(&find(id));
    std::unique_ptr<Analyzed> analyzed = input_.load_whole(traces_);
    analyzer::Predictor predictor(analyzed->trace, analyzed->analysis,
                                  calibration_.load(analyzed->trace));
    if (!timeline_.empty() && !predictor.missing().empty())
      fail_input("{}: cannot predict, because {}; no timeline is written to {}.", named(),
                 predictor.missing(), escape_terminal(timeline_));
    if (!scalings_.empty() || ranks_ > 0) return scale(predictor);
    analyzer::WhatIf result = replay(predictor, chosen);
    if (!timeline_.empty()) write_timeline(predictor, shown_fixes(result));
    show(output_, json_ ? render_json(result, predictor) : render_text(result, predictor));
    return exit_status(ExitCode::kOk);
  }

 private:
  analyzer::WhatIf replay(const analyzer::Predictor& predictor,
                          const std::vector<const Fix*>& chosen) const {
    Progress progress("replaying steps with each fix");
    return what_if(predictor, chosen.empty() ? analyzer::all_fixes() : chosen, compare_);
  }

  std::string named() const { return escape_terminal(fmt::format("{}", fmt::join(traces_, " "))); }

  /// The fixes given by --fix, else the one that gains most and is not a ceiling.
  std::vector<const Fix*> shown_fixes(const analyzer::WhatIf& result) const {
    std::vector<const Fix*> shown;
    for (const analyzer::FixPrediction& one : result.fixes) {
      if (!fixes_.empty()) {
        shown.push_back(one.fix);
      } else if (one.applies && one.fix->kind != analyzer::FixKind::kCeiling) {
        return {one.fix};
      }
    }
    if (shown.empty())
      fail_input("{}: no timeline is written to {}: only ceilings apply.", named(),
                 escape_terminal(timeline_));
    return shown;
  }

  void write_timeline(const analyzer::Predictor& predictor,
                      const std::vector<const Fix*>& fixes) const {
    std::vector<analyzer::Proposal> proposals;
    const analyzer::Proposer proposer(predictor);
    for (const Fix* fix : fixes) proposals.push_back(proposer.of(*fix));
    std::vector<analyzer::ProposedFix> proposed;
    std::string ids;
    std::string titles;
    for (std::size_t i = 0; i < fixes.size(); ++i) {
      proposed.push_back({fixes[i], &proposals[i]});
      ids += fmt::format("{}{}", ids.empty() ? "" : " + ", fixes[i]->id);
      titles += fmt::format("{}{}", titles.empty() ? "" : " + ", fixes[i]->title);
    }
    const analyzer::Together together = analyzer::together(proposed);
    if (!together.missing.empty())
      fail_input("{}: no timeline is written to {}: {}.", named(), escape_terminal(timeline_),
                 together.missing);
    write_timeline(predictor, together.scenario, {ids, titles});
  }
  void write_timeline(const analyzer::Predictor& predictor, const analyzer::Scenario& scenario,
                      const analyzer::TimelineTitle& title) const {
    write_output(timeline_,
                 analyzer::timeline_json(predictor, predict_timeline(predictor, scenario), title));
  }

  static const Fix& find(const std::string& id) {
    if (const Fix* fix = analyzer::find_fix(id)) return *fix;
    std::string hint;
    for (const std::string& near : closest(id, analyzer::fix_ids(), 1))
      hint = " Did you mean '" + near + "'?";
    fail_usage("--fix {}: unknown fix.{} `headway whatif --help` lists them.", escape_terminal(id),
               hint);
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
    if (!timeline_.empty()) {
      const std::string asked = ranks_ > 0 ? fmt::format("--ranks {}", ranks_) : "";
      const std::string all =
          fmt::format("{}{}{}", asked, asked.empty() ? "" : " ", fmt::join(scalings_, " "));
      write_timeline(predictor, scenario, {all, all});
    }
    show(output_, analyzer::render_scaling(prediction, text, predictor, json_));
    return exit_status(ExitCode::kOk);
  }

  std::vector<std::string> traces_;
  std::vector<std::string> fixes_;
  std::vector<std::string> scalings_;
  int ranks_ = 0;
  std::string timeline_;
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
