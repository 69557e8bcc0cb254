// SPDX-License-Identifier: MIT
#include "collector/record/record.h"

#include <CLI/CLI.hpp>

#include "cli/commands/command.h"
#include "cli/commands/commands.h"
#include "cli/commands/record_arguments.h"

namespace headway::cli {
namespace {

class Record final : public Command {
 public:
  std::string_view name() const override { return "record"; }
  std::string_view summary() const override { return "Run a command and record it into a trace"; }
  std::vector<Example> examples() const override {
    return {{"headway record -o slow.sqlite -- python3 train.py --epochs 1", ""},
            {"headway record --io --cuda-memory -- python3 train.py",
             "file calls and allocations, too"}};
  }
  void declare(CLI::App& app) override { arguments_.declare(app, "record"); }
  int run() override { return record::record(arguments_.options()).exit_status; }

 private:
  RecordArguments arguments_;
};

}  // namespace

std::unique_ptr<Command> make_record_command() {
  return std::make_unique<Record>();
}

}  // namespace headway::cli
