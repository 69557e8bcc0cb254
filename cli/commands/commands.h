// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "cli/command.h"

namespace headway::cli {

// Each is defined in the file of its name; all_commands() lists them.
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_record_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_stats_command();
std::unique_ptr<Command> make_calibrate_command();
std::unique_ptr<Command> make_check_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_doctor_command();
std::unique_ptr<Command> make_explain_command();
std::unique_ptr<Command> make_export_command();
std::unique_ptr<Command> make_history_command();
std::unique_ptr<Command> make_import_command();
std::unique_ptr<Command> make_mcp_command();
std::unique_ptr<Command> make_reference_command();
std::unique_ptr<Command> make_tune_command();
std::unique_ptr<Command> make_view_command();
std::unique_ptr<Command> make_watch_command();
std::unique_ptr<Command> make_whatif_command();

}  // namespace headway::cli
