// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/live/follower.h"
#include "cli/live/metrics.h"
#include "cli/live/panel.h"
#include "cli/live/show.h"
#include "cli/live/terminal.h"
#include "common/error.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::cli {
namespace {

/// Restores the cursor of the terminal after a crash.
void restore_after_crashes() {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    const std::string_view text = live::FullScreen::closing();
    [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    ::raise(number);
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::sigaction(number, &action, nullptr);
}

class Watch final : public Command {
 public:
  std::string_view name() const override { return "watch"; }
  std::string_view summary() const override { return "Follow a run while it is recorded"; }
  std::vector<Example> examples() const override {
    return {{"headway watch run.sqlite", "from another terminal; the file may not exist yet"},
            {"headway watch run.sqlite --prometheus 9464",
             "the figures at http://127.0.0.1:9464/metrics"}};
  }

  void declare(CLI::App& app) override {
    app.add_option("trace", trace_, "Trace file; it may not exist yet")
        ->required()
        ->type_name("TRACE");
    app.add_option("--interval", seconds_,
                   "Refresh interval in seconds. Default: 1 on a terminal, else 10")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.1, 86400.0));
    app.add_option("--last", last_, "Number of latest steps for the current step cost and shares")
        ->type_name("N")
        ->check(CLI::Range(3, 100000))
        ->capture_default_str();
    app.add_option("--prometheus", prometheus_,
                   "Also serve the figures on http://HOST:PORT/metrics in Prometheus text format; "
                   "only to this machine unless HOST is given; port 0 takes a free one")
        ->type_name("[HOST:]PORT");
    input_.declare_options(app);
  }

  int run() override {
    if (std::filesystem::is_directory(trace_))
      fail_usage("{}: is a folder; give one trace file, of one rank or of all ranks.", trace_);
    const live::DisplaySignals signals;
    live::FollowOptions options;
    options.file = trace_;
    options.steps = input_.options().steps;
    options.last = last_;
    const live::Follower follower(std::move(options));
    std::optional<live::MetricsServer> server;
    if (!prometheus_.empty()) {
      server.emplace(prometheus_, [&] { return live::metrics_text(follower.figures()); });
      tell(fmt::format("headway: metrics on {}\n", server->address()));
    }
    const bool draws = live::can_draw(STDOUT_FILENO);
    if (draws) restore_after_crashes();
    live::ShowOptions how;
    how.fd = STDOUT_FILENO;
    how.place = draws ? live::Place::kFullScreen : live::Place::kLines;
    how.seconds = seconds_;
    ExitCode code = ExitCode::kOk;
    if (live::show(follower, how, signals) == live::Ended::kRun) {
      const live::Figures figures = follower.figures();
      if (figures.phase == live::Phase::kFailed) {
        tell(fmt::format("headway: {}\n", escape_terminal(figures.note)));
        code = ExitCode::kBadInput;
      } else {
        write_output("-", live::closing_line(figures) + "\n");
      }
    }
    std::fflush(nullptr);
    // Does not wait for the follower, which may be in the middle of an analysis.
    ::_exit(exit_status(code));
  }

 private:
  std::string trace_;
  double seconds_ = 0;
  std::int64_t last_ = 20;
  std::string prometheus_;
  AnalysisInput input_;
};

}  // namespace

std::unique_ptr<Command> make_watch_command() {
  return std::make_unique<Watch>();
}

}  // namespace headway::cli
