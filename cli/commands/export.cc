// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/commands/progress.h"
#include "common/tell.h"
#include "common/text.h"
#include "trace/export/export.h"
#include "trace/load/load.h"

namespace headway::cli {
namespace {

class ExportCommand final : public Command {
 public:
  std::string_view name() const override { return "export"; }
  std::string_view summary() const override {
    return "Write a trace for other tools: Chrome JSON, Perfetto protobuf or CSV tables";
  }
  std::vector<Example> examples() const override {
    return {{"headway export run.sqlite --format chrome -o run.json.gz",
             "for Perfetto and tools that read PyTorch's profiles"},
            {"headway export run.sqlite --format csv -o tables/", ""}};
  }

  void declare(CLI::App& app) override {
    app.add_option("trace", trace_, "Trace file, or a recording that `import` reads")
        ->required()
        ->type_name("TRACE");
    app.add_option("--format", format_,
                   "chrome: one JSON file for Perfetto and tools for PyTorch's traces; perfetto: "
                   "Perfetto's protobuf, smaller; csv: a folder with a file per table")
        ->required()
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"chrome", "perfetto", "csv"}));
    app.add_option("-o,--output", output_,
                   "File ('-': standard output; .gz names are compressed) or folder to write. "
                   "Default: TRACE.json.gz, TRACE.pftrace or TRACE.csv beside TRACE")
        ->type_name("PATH");
    app.add_flag("--force", force_, "Overwrite existing files");
  }

  int run() override {
    trace::ExportOptions options{force_};
    std::string output = output_;
    if (output.empty()) {
      std::filesystem::path stem = trace_;
      output = stem.replace_extension(format_ == "chrome"     ? ".json.gz"
                                      : format_ == "perfetto" ? ".pftrace"
                                                              : ".csv")
                   .string();
    }
    std::optional<Progress> progress("reading " + trace_);
    trace::Trace trace = trace::load(trace_, {.progress = progress->share()});
    progress->now("writing " + output);
    if (format_ == "chrome") {
      trace::export_chrome_json(trace, output, options);
    } else if (format_ == "perfetto") {
      trace::export_perfetto(trace, output, options);
    } else {
      trace::export_csv(trace, output, options);
    }
    progress.reset();
    if (output != "-") tell(fmt::format("{}: written\n", escape_terminal(output)));
    return exit_status(ExitCode::kOk);
  }

 private:
  std::string trace_;
  std::string format_;
  std::string output_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export_command() {
  return std::make_unique<ExportCommand>();
}

}  // namespace headway::cli
