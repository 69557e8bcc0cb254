// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/commands/progress.h"
#include "cli/commands/version.h"
#include "common/tell.h"
#include "common/text.h"
#include "trace/load/load.h"
#include "trace/save/save.h"

namespace headway::cli {
namespace {

class ImportCommand final : public Command {
 public:
  std::string_view name() const override { return "import"; }
  std::string_view summary() const override {
    return "Convert another profiler's recording to a Headway trace file";
  }
  std::vector<Example> examples() const override {
    return {{"headway import trace.json.gz -o run.sqlite", "a PyTorch profile"},
            {"headway import report.sqlite -o run.sqlite --force", "an Nsight Systems export"},
            {"headway import host.xplane.pb -o run.sqlite", "a profile of JAX or TensorFlow"}};
  }

  void declare(CLI::App& app) override {
    app.add_option(
           "recording", recording_,
           "Nsight Systems SQLite export, PyTorch profiler JSON (.gz, .zip), XPlane of JAX or "
           "TensorFlow (.gz), or a trace")
        ->required()
        ->type_name("RECORDING");
    app.add_option("-o,--output", output_, "Trace file to write")->required()->type_name("FILE");
    app.add_flag("--force", force_, "Overwrite FILE");
  }

  int run() override {
    trace::SaveOptions options;
    options.overwrite = force_;
    options.imported_by = fmt::format("headway {}", kVersion);
    std::optional<Progress> progress("reading " + recording_);
    trace::Trace trace = trace::load(recording_, {.progress = progress->share()});
    progress->now("writing " + output_);
    trace::save(trace, output_, options);
    progress.reset();
    tell(fmt::format("{}: {} ranges, {} calls, {} device ops of {}\n", escape_terminal(output_),
                     trace.ranges.size(), trace.calls.size(), trace.device_ops.size(),
                     escape_terminal(recording_)));
    return exit_status(ExitCode::kOk);
  }

 private:
  std::string recording_;
  std::string output_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> make_import_command() {
  return std::make_unique<ImportCommand>();
}

}  // namespace headway::cli
