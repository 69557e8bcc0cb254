// SPDX-License-Identifier: MIT
// What the panel says, at the widths of usual terminals and less.
#include "cli/live/panel.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <regex>

#include "cli/live/terminal.h"
#include "common/text.h"
#include "tests/cli/figures.h"

namespace headway::cli::live {
namespace {

using test::some_figures;

/// Thin ones, between groups of digits, are hard to see here.
std::string with_plain_spaces(const std::string& text) {
  return std::regex_replace(text, std::regex("\u202f"), " ");
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return with_plain_spaces(text);
}

std::string at_width(const Figures& figures, std::size_t width, std::size_t height = 9) {
  PanelStyle style;
  style.width = width;
  style.height = height;
  return joined(panel(figures, style));
}

std::string without_escapes(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

}  // namespace

TEST_CASE("the panel at 80 columns") {
  CHECK(at_width(some_figures(), 80) ==
        "─ headway ─ /data/run.sqlite ─ 1 min 23 s ─ 12 processes ───────────────────────\n"
        "Step      31.2 ms now (rank 2)   30.8 ms over the run   1 240 steps\n"
        "          ██████████████████████████████████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒░░░\n"
        "          █ Compute 60.0 %  ▓ Input: read 30.0 %  ▒ Launch gap 5.0 %\n"
        "Cause     Workers starved: more workers: step 31.2 → 21.8 ms (−30.0 %)\n"
        "Ranks     0: 30.1 ms  1: 30.0 ms  2: 31.2 ms  3: 30.2 ms\n"
        "Machine   GPU 0 83 % 10.2 GB of 80.0 GB   CPU 640 % of 800 %   memory 3.10 GB\n"
        "Dropped   no event\n");
}

TEST_CASE("a narrower panel leaves out the least important, a wider one nothing") {
  CHECK(at_width(some_figures(), 60) ==
        "─ headway ─ /data/run.sqlite ─ 1 min 23 s ─ 12 processes ───\n"
        "Step      31.2 ms now (rank 2)   30.8 ms over the run\n"
        "          ██████████████████████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒░░\n"
        "          █ Compute 60.0 %  ▓ Input: read 30.0 %\n"
        "Cause     Workers starved: more workers: step 31.2 → 21.8 m…\n"
        "Ranks     0: 30.1 ms  1: 30.0 ms  2: 31.2 ms  3: 30.2 ms\n"
        "Machine   GPU 0 83 % 10.2 GB of 80.0 GB   CPU 640 % of 800 %\n"
        "Dropped   no event\n");
  CHECK(
      at_width(some_figures(), 120) ==
      "─ headway ─ /data/run.sqlite ─ 1 min 23 s ─ 12 processes "
      "───────────────────────────────────────────────────────────────\n"
      "Step      31.2 ms now (rank 2)   30.8 ms over the run   1 240 steps   1 026 samples/s\n"
      "          ████████████████████████████████████████████████████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓"
      "▓▓▓▓▓▓▓▓▒▒▒▒▒░░░░░\n"
      "          █ Compute 60.0 %  ▓ Input: read 30.0 %  ▒ Launch gap 5.0 %  ░ All else 5.0 %\n"
      "Cause     Workers starved: more workers: step 31.2 → 21.8 ms (−30.0 %)\n"
      "Ranks     0: 30.1 ms  1: 30.0 ms  2: 31.2 ms  3: 30.2 ms\n"
      "Machine   GPU 0 83 % 10.2 GB of 80.0 GB   CPU 640 % of 800 %   memory 3.10 GB   machine 85 "
      "%\n"
      "Dropped   no event\n");
}

TEST_CASE("no line is wider than the terminal, with colour or without, whatever the figures") {
  std::vector<Figures> all(4, some_figures());
  all[1].file = "/a/folder\x1b]0;pwned\a/with/\x1b[2Ja very long name that goes on and on.sqlite";
  all[1].cause->text = "op\n\x1b[31m: " + std::string(300, 'x');
  all[2] = Figures{};
  all[2].phase = Phase::kStalled;
  all[2].note = "the disk is full: the run goes on, what it does is not recorded";
  all[3].ranks.resize(4096, {7, {1}});
  all[3].dropped = 123'456'789;
  for (const Figures& figures : all) {
    for (std::size_t width = 1; width <= 200; ++width) {
      PanelStyle style;
      style.width = width;
      style.height = 9;
      const std::vector<std::string> plain = panel(figures, style);
      style.colour = true;
      const std::vector<std::string> coloured = panel(figures, style);
      REQUIRE(plain.size() == coloured.size());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        REQUIRE_MESSAGE(count_columns(plain[i]) <= width, plain[i]);
        REQUIRE(plain[i].find('\x1b') == std::string::npos);
        REQUIRE(plain[i].find('\n') == std::string::npos);
        REQUIRE(without_escapes(coloured[i]) == plain[i]);
      }
    }
  }
}

TEST_CASE("a low terminal shows the first lines, among them what was dropped") {
  Figures figures = some_figures();
  CHECK(at_width(figures, 80, 2).find("Step") != std::string::npos);
  CHECK(at_width(figures, 80, 3).find("Dropped") == std::string::npos);
  figures.dropped = 12;
  CHECK(at_width(figures, 80, 3).find("Dropped   12 events") != std::string::npos);
}

TEST_CASE("before the first step, without steps, and when nothing comes any more") {
  Figures figures;
  figures.file = "run.sqlite";
  CHECK(at_width(figures, 60).find("waiting for a recording to begin") != std::string::npos);
  figures.phase = Phase::kRunning;
  CHECK(at_width(figures, 60).find("no step yet") != std::string::npos);
  figures.step_now = {5'000'000'000};
  CHECK(at_width(figures, 60).find("Span      5.00 s   no steps found") != std::string::npos);
  figures.phase = Phase::kStalled;
  figures.note = "nothing new, though the recorder runs";
  CHECK(at_width(figures, 60).find("Note      nothing new") != std::string::npos);
}

TEST_CASE("the line for logs has the same figures") {
  CHECK(
      with_plain_spaces(plain_line(some_figures())) ==
      "headway: 1 min 23 s, 1 240 steps, step 31.2 ms now, 30.8 ms over the run, 1 026 samples/s, "
      "Compute 60.0 %, Input: read 30.0 %, Launch gap 5.0 %, All else 5.0 %, cause: Workers "
      "starved: more workers: step 31.2 → 21.8 ms (−30.0 %)");
}

TEST_CASE("the last line says how the run ended and what comes next") {
  Figures figures = some_figures();
  figures.phase = Phase::kEnded;
  figures.note = "exit code 3";
  CHECK(closing_line(figures) ==
        "headway: /data/run.sqlite: the run ended after 1 min 23 s (exit code 3). Next: headway "
        "report /data/run.sqlite");
  figures.phase = Phase::kCut;
  figures.note = "the recorder is gone";
  CHECK(closing_line(figures).find("was cut after 1 min 23 s (the recorder is gone)") !=
        std::string::npos);
}

TEST_CASE("NO_COLOR takes the colour away, empty it does not") {
  ::unsetenv("NO_COLOR");
  CHECK(wants_colour());
  ::setenv("NO_COLOR", "", 1);
  CHECK(wants_colour());
  ::setenv("NO_COLOR", "1", 1);
  CHECK_FALSE(wants_colour());
  ::unsetenv("NO_COLOR");
}

}  // namespace headway::cli::live
