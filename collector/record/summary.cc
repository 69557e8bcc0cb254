// SPDX-License-Identifier: MIT
#include "collector/record/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "common/counted.h"
#include "common/format.h"
#include "common/shell_word.h"
#include "common/text.h"

namespace headway::record {
namespace {

using trace::Loss;
using trace::Severity;

/// Says which rank failed first: a launcher's exit code does not say what happened to its ranks.
std::string rank_text(const Summary& s) {
  if (!s.failed_rank) return "";
  const FailedRank& first = *s.failed_rank;
  const std::string who = fmt::format(": rank {} (process {})", first.rank, first.pid);
  if (first.signal)
    return fmt::format("{} was ended by signal {} ({})", who, *first.signal,
                       ::strsignal(*first.signal));
  return fmt::format("{} failed first, with exit code {}", who, first.exit_code.value_or(0));
}

std::string outcome_line(const Summary& s) {
  std::string command = escape_terminal(s.command);
  if (s.outcome.left_running)
    return fmt::format("{} is still running, unrecorded from now on", command);
  if (s.outcome.scope_over)
    return fmt::format("the recording is over; {} continues unrecorded", command);
  if (s.outcome.signal)
    return fmt::format("{} was ended by signal {} ({}); events up to then are kept", command,
                       *s.outcome.signal, ::strsignal(*s.outcome.signal));
  if (s.outcome.exit_code.value_or(0) != 0)
    return fmt::format("{} ended with exit code {}{}", command, *s.outcome.exit_code, rank_text(s));
  return "";
}

/// Why there may be no events; empty when there are some.
std::string nothing_line(const Summary& s) {
  if (s.events > 0) return "";
  if (s.io_calls > 0)
    return fmt::format("{} on files; no NVTX range or mark", counted(s.io_calls, "call", "calls"));
  if (!s.nvtx) return "NVTX was off (--nvtx off): the trace holds only processes and counters";
  if (!s.refusals.empty())  // the refusals say why
    return "no event was recorded. The trace holds only processes and counters";
  if (s.injected > 0)
    return "no event was recorded: the program loaded NVTX but ended before its first range. The "
           "trace holds only processes and counters";
  return "no event was recorded: the program does not use NVTX, is statically linked or 32-bit, "
         "runs as another user, clears its environment, or ended before its first range. The trace "
         "holds only processes and counters";
}

std::string cost_line(const Summary& s) {
  std::string recorder =
      fmt::format("the recorder itself used {} of processor time", format_duration(s.recorder_cpu));
  // 2.7 µs in a loop of launches, 9.7 µs in a training step of PyTorch (H100, docs/performance.md).
  if (s.cuda) recorder = "a recorded CUDA call takes longer (3 to 10 µs on an H100); " + recorder;
  if (s.event_cost_ns <= 0 || s.busiest_thread_records == 0) return recorder;
  double cost_ns = s.event_cost_ns * static_cast<double>(s.busiest_thread_records);
  double share = s.duration.ns > 0 ? cost_ns / static_cast<double>(s.duration.ns) : 0;
  return fmt::format(
      "recording ranges cost the busiest thread {} of its time ({:.0f} ns per push or pop); {}",
      format_percent(share), s.event_cost_ns, recorder);
}

/// "5.00 s", or "1.00 s of 5.00 s" when only a part was kept.
std::string recorded_time(const Summary& s) {
  const std::string whole = format_duration(s.duration);
  if (!s.kept || *s.kept >= s.duration) return whole;
  return fmt::format("{} of {}", format_duration(*s.kept), whole);
}

std::vector<std::string> loss_lines(const Summary& s) {
  std::vector<std::string> lines;
  // A process that was not recorded at all is a loss, too.
  bool lost =
      !s.refusals.empty() || !s.without_session.empty() || !s.failure.empty() || !s.file_bytes;
  for (const auto& [loss, count] : s.losses) {
    // The line about processes says it.
    if (loss == Loss::kProcessNotInjected || count == 0) continue;
    const trace::LossDeclaration& declaration = trace::declaration_of(loss);
    lost |= declaration.severity != Severity::kInfo;
    lines.push_back(fmt::format("{}: {} x {}. {}",
                                declaration.severity == Severity::kLoss ? "lost" : "note",
                                format_count(count), declaration.name, declaration.text));
  }
  if (!lost && s.events + s.io_calls > 0) lines.insert(lines.begin(), "nothing was lost");
  return lines;
}

/// A line about processes that could not record; whether they had anything to record is not known.
std::string without_session_line(const Summary& s) {
  if (s.without_session.empty()) return "";
  constexpr std::size_t kShown = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(s.without_session.size(), kShown); ++i)
    names += (i ? ", " : "") + escape_terminal(s.without_session[i]);
  if (s.without_session.size() > kShown)
    names += fmt::format(" and {} more", s.without_session.size() - kShown);
  return fmt::format(
      "note: recorded from outside only (started without the recorder's environment, e.g. env -i, "
      "sudo): {}",
      names);
}

/// Lines about --pytorch when the hooks did not work as requested.
std::vector<std::string> pytorch_lines(const Summary& s) {
  std::vector<std::string> lines;
  if (!s.pytorch) return lines;
  if (!s.settings.contains("pytorch_hook") && !s.settings.contains("python_hook"))
    lines.push_back(
        "--pytorch: no process reported the hook: none imported torch, keras, tensorflow or jax, "
        "or Python ran with -S, -I, -E or a cleared environment");
  constexpr std::string_view kOff = "pytorch.off.";
  for (const auto& [name, value] : s.settings) {
    if (name.starts_with(kOff))
      lines.push_back(fmt::format("note: --pytorch: the hook '{}' switched itself off: {}",
                                  escape_terminal(name.substr(kOff.size())),
                                  escape_terminal(value)));
  }
  return lines;
}

/// Why the trace is not complete; empty when it is.
std::string failure_line(const Summary& s) {
  std::string file = escape_terminal(s.file.string());
  if (!s.file_bytes)
    return fmt::format("{} is gone: it was removed during the recording, with all data", file);
  if (s.failure.empty()) return "";
  return fmt::format(
      "writing stopped early: {} The file holds all events up to then; keep {}-wal beside it if it "
      "exists",
      escape_terminal(s.failure), file);
}

}  // namespace

std::string failure_text(const Summary& summary) {
  std::string line = failure_line(summary);
  return line.empty() ? "" : "headway: " + line + "\n";
}

std::string summary_text(const Summary& s) {
  std::vector<std::string> lines;
  if (std::string line = outcome_line(s); !line.empty()) lines.push_back(line);
  if (s.file_bytes)
    lines.push_back(fmt::format("recorded {} to {} ({})", recorded_time(s),
                                escape_terminal(s.file.string()), format_bytes(*s.file_bytes)));
  if (!s.scope.empty()) lines.push_back("chosen: " + escape_terminal(s.scope));
  if (std::string line = nothing_line(s); !line.empty()) {
    // When the user chose a part of the run, the line before says why.
    if (s.scope.empty() || s.injected == 0) lines.push_back(line);
  } else {
    std::string of_tree = s.processes > s.injected ? fmt::format(" of {}", s.processes) : "";
    lines.push_back(fmt::format("{} from {} in {}{} process{}",
                                counted(s.events, "event", "events"),
                                counted(s.threads, "thread", "threads"), s.injected, of_tree,
                                s.processes == 1 ? "" : "es"));
    if (s.io_calls > 0) lines.back() += ", " + counted(s.io_calls, "call", "calls") + " on files";
  }
  constexpr std::size_t kRefusalsShown = 3;
  for (std::size_t i = 0; i < std::min(s.refusals.size(), kRefusalsShown); ++i)
    lines.push_back("not recorded: " + escape_terminal(s.refusals[i]));
  if (s.refusals.size() > kRefusalsShown)
    lines.push_back(
        fmt::format("not recorded: {} more processes", s.refusals.size() - kRefusalsShown));
  if (std::string line = without_session_line(s); !line.empty()) lines.push_back(line);
  for (std::string& line : pytorch_lines(s)) lines.push_back(std::move(line));
  for (std::string& line : loss_lines(s)) lines.push_back(std::move(line));
  if (std::string line = failure_line(s); !line.empty()) lines.push_back(line);
  lines.push_back(cost_line(s));
  if (s.file_bytes && s.suggest_report)
    lines.push_back(
        fmt::format("next: headway report {}", shell_word(escape_terminal(s.file.string()))));
  std::string text;
  for (const std::string& line : lines) text += "headway: " + line + "\n";
  return text;
}

}  // namespace headway::record
