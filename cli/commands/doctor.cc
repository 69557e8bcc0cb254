// SPDX-License-Identifier: MIT
#include "collector/doctor/check.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/version.h"
#include "cli/tune/child.h"
#include "cli/tune/child_failure.h"
#include "cli/tune/runs.h"
#include "collector/doctor/python_checks.h"
#include "common/text.h"

namespace headway::cli {
namespace {

/// `problem  CUDA driver     text`, and the remedy below it.
std::string to_text(const std::vector<doctor::Checked>& results) {
  std::string out;
  for (const doctor::Checked& result : results) {
    out += fmt::format("{:<8} {:<20} {}\n", doctor::status_name(result.finding.status),
                       result.check->title, escape_terminal(result.finding.text));
    if (!result.finding.remedy.empty())
      out += fmt::format("{:<29} {}\n", "", escape_terminal(result.finding.remedy));
  }
  return out;
}

std::string to_json(const std::vector<doctor::Checked>& results) {
  nlohmann::ordered_json json;
  json["schema_version"] = 1;
  json["headway_version"] = kVersion;
  json["checks"] = nlohmann::ordered_json::array();
  for (const doctor::Checked& result : results) {
    json["checks"].push_back({{"id", result.check->id},
                              {"title", result.check->title},
                              {"status", doctor::status_name(result.finding.status)},
                              {"text", to_valid_utf8(result.finding.text)},
                              {"remedy", to_valid_utf8(result.finding.remedy)}});
  }
  return json.dump(2) + "\n";
}

/// Runs the Python program once. Throws tune::Interrupted on a signal.
std::vector<doctor::Checked> check_python(const std::string& program) {
  constexpr double kPatienceS = 30;
  std::string out, why_not;
  const tune::StopSignals signals;
  try {
    const tune::ChildResult ran = tune::run_child(doctor::python_question(program), kPatienceS);
    out = ran.out;
    if (ran.status != 0)
      why_not = fmt::format("{}, {}", tune::ending_text(ran), tune::last_lines(ran.err, 1));
  } catch (const tune::RunTooLong&) {
    why_not = fmt::format("it did not answer within {} s", kPatienceS);
  }
  return doctor::judge_python(program, out, why_not);
}

class DoctorCommand final : public Command {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view summary() const override {
    return "Check this machine for problems that prevent recording or slow training";
  }
  std::vector<Example> examples() const override {
    return {{"headway doctor", "where the training runs"},
            {"headway doctor --python", "what recording finds in python3"},
            {"headway doctor --python ~/venv/bin/python --json", ""}};
  }

  void declare(CLI::App& app) override {
    app.add_option("--python", python_,
                   "Instead of the machine, check this Python (default: python3 in PATH): its "
                   "version, whether the recording hook loads, PyTorch and other frameworks")
        ->type_name("PROGRAM")
        ->expected(0, 1)
        ->default_str("python3");
    app.add_flag("--json", json_, "Write JSON");
    app.footer(
        "Run it where the training runs: in its container, with its environment.\nThe exit status "
        "is 1 if there is a problem.");
  }

  int run() override try {
    std::vector<doctor::Checked> results =
        python_.empty() ? doctor::run_checks(doctor::System()) : check_python(python_);
    write_output("-", json_ ? to_json(results) : to_text(results));
    bool problem = std::any_of(results.begin(), results.end(), [](const doctor::Checked& result) {
      return result.finding.status == doctor::Status::kProblem;
    });
    return problem ? 1 : exit_status(ExitCode::kOk);
  } catch (const tune::Interrupted& interrupted) {
    return 128 + interrupted.signal;
  }

 private:
  bool json_ = false;
  std::string python_;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace headway::cli
