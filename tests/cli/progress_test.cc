// SPDX-License-Identifier: MIT
#include "cli/commands/progress.h"

#include <doctest/doctest.h>
#include <pty.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <regex>
#include <string>
#include <thread>

namespace headway::cli {
namespace {

/// What is on the terminal that standard error is while `run` runs.
template <class Run>
std::string written_to_terminal(Run run) {
  int terminal = -1;
  int end = -1;
  REQUIRE(::openpty(&terminal, &end, nullptr, nullptr, nullptr) == 0);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(end, STDERR_FILENO);
  ::setenv("TERM", "xterm", 1);
  run();
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(end);
  // What was written arrives in pieces, some of them later; reading ends with EIO after the last.
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(terminal);
  return text;
}

}  // namespace

TEST_CASE("what takes longer than two seconds says what it does, and leaves nothing behind") {
  const std::string text = written_to_terminal([] {
    Progress progress("reading run.sqlite");
    progress.share()(0.34);
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    progress.now("analysing run.sqlite");
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  });
  // The number of seconds depends on the machine.
  CHECK(std::regex_search(text, std::regex("reading run.sqlite, 34 %, [0-9]+ s")));
  CHECK(std::regex_search(text, std::regex("analysing run.sqlite, [0-9]+ s")));
  CHECK(text.ends_with("\r\033[K"));
}

TEST_CASE("what is done at once says nothing of its progress") {
  CHECK(written_to_terminal([] { Progress progress("reading run.sqlite"); }).empty());
}

}  // namespace headway::cli
