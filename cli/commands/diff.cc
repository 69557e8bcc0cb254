// SPDX-License-Identifier: MIT
#include "analyzer/diff/diff.h"

#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"

namespace headway::cli {
namespace {

class DiffCommand final : public Command {
 public:
  std::string_view name() const override { return "diff"; }
  std::string_view summary() const override {
    return "Compare two runs: is B faster than A, by how much, and where";
  }

  void declare(CLI::App& app) override {
    app.add_option("a", a_, "Trace file of the run to compare with")->required()->type_name("A");
    app.add_option("b", b_, "Trace file of the run that is judged")->required()->type_name("B");
    app.add_flag("--json", json_, "Print the result as JSON");
    app.add_option("--noise", noise_pct_, "Changes of the step below this are no change")
        ->type_name("PERCENT")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--fail-above", fail_above_pct_,
                   "Exit with 1 when B is slower than A by more than this")
        ->type_name("PERCENT")
        ->check(CLI::NonNegativeNumber);
    input_.declare_options(app);
  }

  int run() override {
    auto a = input_.load(a_);
    auto b = input_.load(b_);
    analyzer::DiffSide side_a{a->trace, a->analysis};
    analyzer::DiffSide side_b{b->trace, b->analysis};
    analyzer::Diff result = analyzer::diff(side_a, side_b, noise_pct_ / 100);
    write_output("-", json_ ? analyzer::diff_json(result, side_a, side_b)
                            : analyzer::diff_text(result, side_a, side_b));
    bool regressed = fail_above_pct_ >= 0 && result.verdict == analyzer::DiffVerdict::kSlower &&
                     result.change * 100 > fail_above_pct_;
    return exit_status(regressed ? ExitCode::kOverBudget : ExitCode::kOk);
  }

 private:
  std::string a_;
  std::string b_;
  bool json_ = false;
  double noise_pct_ = 1;
  double fail_above_pct_ = -1;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() {
  return std::make_unique<DiffCommand>();
}

}  // namespace headway::cli
