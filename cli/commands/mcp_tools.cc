// SPDX-License-Identifier: MIT
#include "cli/commands/mcp_tools.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "common/error.h"

namespace headway::cli::mcp {
namespace {

using Kind = Parameter::Kind;
using MakeCommand = std::unique_ptr<Command> (*)();

/// A parameter and its place on the command line.
struct Slot {
  Parameter parameter;
  std::string option;  ///< "--sql"; empty: positional
};

/// Runs a command as `headway NAME WORDS…`; its standard output is the result.
ToolResult run_command(MakeCommand make, std::vector<std::string> words) {
  const std::unique_ptr<Command> command = make();
  CLI::App app{std::string(command->summary()), std::string(command->name())};
  command->declare(app);
  CapturedOutput output;
  try {
    std::vector<const char*> arguments = {"headway"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    app.parse(static_cast<int>(arguments.size()), arguments.data());
    command->run();  // the exit status is ignored: the text says the same
    return {output.take(), false};
  } catch (const std::bad_alloc&) {
    return {"not enough memory for this trace", true};
  } catch (const std::exception& error) {
    return {error.what(), true};
  }
}

Tool tool_of(MakeCommand make, std::string title, std::string doc, std::vector<Slot> slots,
             std::vector<std::string> always = {}) {
  Tool tool;
  tool.name = std::string(make()->name());
  tool.title = std::move(title);
  tool.doc = std::move(doc);
  for (const Slot& slot : slots) tool.parameters.push_back(slot.parameter);
  tool.call = [make, slots = std::move(slots),
               always = std::move(always)](const Arguments& arguments) {
    std::vector<std::string> words = always;
    std::vector<std::string> placed;
    for (const Slot& slot : slots) {
      const auto given = arguments.find(slot.parameter.name);
      if (given == arguments.end()) continue;
      for (const std::string& value : given->second) {
        if (slot.option.empty())
          placed.push_back(value);
        else if (slot.parameter.kind == Kind::kFlag)
          words.push_back(slot.option);
        else
          words.push_back(slot.option + "=" + value);
      }
    }
    // Keeps a name that begins with a dash from being read as an option.
    words.emplace_back("--");
    words.insert(words.end(), placed.begin(), placed.end());
    return run_command(make, std::move(words));
  };
  return tool;
}

Slot trace_slot() {
  return {{"trace", Kind::kTexts,
           "Trace file; for a job of many ranks a folder, a pattern or several files", true},
          ""};
}

}  // namespace

std::vector<Tool> command_tools() {
  std::vector<Tool> tools;
  tools.push_back(tool_of(
      make_report_command, "Verdict of a run",
      "What limits the steps of a recorded training run, by how much, and what to change: one "
      "screen, or every finding and table.",
      {trace_slot(),
       {{"full", Kind::kFlag, "Every finding and table instead of one screen", false}, "--full"},
       {{"json", Kind::kFlag, "The report as JSON", false}, "--json"},
       {{"step_range", Kind::kText, "Name of the NVTX range that is a training step", false},
        "--step-range"}}));
  tools.push_back(tool_of(
      make_stats_command, "Tables of a run",
      "Tables of a run (kernels, ops, ranges, calls, copies, steps, loaders, …), or the result of "
      "one read-only SQL query on the trace's SQLite file. SELECT name FROM sqlite_master lists "
      "its tables; times are nanoseconds since the recording began.",
      {{{"trace", Kind::kText, "Trace file, or a folder with all ranks", true}, ""},
       {{"tables", Kind::kTexts, "Tables to print; default: all with rows", false}, ""},
       {{"sql", Kind::kText, "One SELECT to run instead", false}, "--sql"},
       {{"steps", Kind::kText, "Only these steps: 10:20, 10:, 7", false}, "--steps"},
       {{"range", Kind::kText, "Only events inside ranges of this name", false}, "--range"},
       {{"rows", Kind::kWhole, "Rows of each table; 0 for all. Default: 20", false}, "--rows"},
       {{"json", Kind::kFlag, "JSON with raw figures instead of text", false}, "--json"}},
      {"--sql-timeout=30"}));
  tools.push_back(
      tool_of(make_whatif_command, "Predict a fix's gain",
              "Predict each fix's gain by replaying the recorded run with it; or the run with "
              "scaled times or more ranks.",
              {trace_slot(),
               {{"fix", Kind::kTexts, "Only these fixes, by id; default: all", false}, "--fix"},
               {{"scale", Kind::kTexts,
                 "Instead: multiply times, WHAT=FACTOR with WHAT a class, op:, kernel:, call: or "
                 "range:, for example comm_transfer=0.5 or kernel:*gemm*=0.5",
                 false},
                "--scale"},
               {{"ranks", Kind::kWhole, "Instead: the job with this many ranks", false}, "--ranks"},
               {{"json", Kind::kFlag, "JSON instead of text", false}, "--json"}}));
  tools.push_back(
      tool_of(make_diff_command, "Compare two runs",
              "Whether run b is faster than run a, by how much, with what confidence, and where it "
              "changed.",
              {{{"a", Kind::kText, "Trace file of the baseline run", true}, ""},
               {{"b", Kind::kText, "Trace file of the new run", true}, ""},
               {{"rows", Kind::kWhole, "Rows of each table; 0 for all", false}, "--rows"},
               {{"json", Kind::kFlag, "JSON instead of text", false}, "--json"}}));
  tools.push_back(tool_of(make_explain_command, "Explain a finding",
                          "What a rule looks for, why it costs time, when it is wrong, and how to "
                          "fix it; without a rule: list all.",
                          {{{"rule", Kind::kText, "Rule id, as in findings", false}, ""}}));
  return tools;
}

}  // namespace headway::cli::mcp
