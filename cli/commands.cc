// SPDX-License-Identifier: MIT
#include "cli/commands/commands.h"

namespace headway::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_run_command());
  commands.push_back(make_record_command());
  commands.push_back(make_watch_command());
  commands.push_back(make_report_command());
  commands.push_back(make_stats_command());
  commands.push_back(make_whatif_command());
  commands.push_back(make_tune_command());
  commands.push_back(make_view_command());
  commands.push_back(make_check_command());
  commands.push_back(make_diff_command());
  commands.push_back(make_history_command());
  commands.push_back(make_explain_command());
  commands.push_back(make_import_command());
  commands.push_back(make_export_command());
  commands.push_back(make_doctor_command());
  commands.push_back(make_calibrate_command());
  commands.push_back(make_mcp_command());
  commands.push_back(make_reference_command());
  return commands;
}

}  // namespace headway::cli
