// SPDX-License-Identifier: MIT
#include "collector/record/rows/process_table.h"

#include <doctest/doctest.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/collector/run_recorder.h"
#include "tests/support/temporary_folder.h"

namespace headway::record {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// What somebody reads who follows the recording at that time.
std::string name_in_file(TraceSink& sink) {
  sink.commit();
  test::Rows rows =
      test::query(sink.path(), "SELECT value FROM ThreadNames JOIN StringIds ON id = nameId", {});
  return rows.empty() ? "" : rows[0][0];
}

}  // namespace

TEST_CASE("a name that a program gives a thread after its first events is written while it runs") {
  test::TemporaryFolder folder;
  TraceSink sink(folder / "run.sqlite", false);
  TimeAxis axis(read_clocks());
  ProcessTable processes(axis);
  const std::int32_t pid = 2'000'000'000;  // no such process: the system knows no name
  processes.thread_seen(pid, pid + 1);
  processes.write_news(sink, 1 * kSecond);
  CHECK(name_in_file(sink).empty());
  processes.thread_named(pid, pid + 1, "loader 0");
  processes.write_news(sink, 2 * kSecond);
  CHECK(name_in_file(sink) == "loader 0");
  processes.thread_named(pid, pid + 1, "loader 0 of 2");
  processes.write_news(sink, 3 * kSecond);
  CHECK(name_in_file(sink) == "loader 0 of 2");
}

TEST_CASE("a name that the system learns later is written while the program runs") {
  test::TemporaryFolder folder;
  TraceSink sink(folder / "run.sqlite", false);
  TimeAxis axis(read_clocks());
  ProcessTable processes(axis);
  char before[16] = {};
  REQUIRE(pthread_getname_np(pthread_self(), before, sizeof before) == 0);
  processes.thread_seen(getpid(), gettid());
  processes.write_news(sink, 1 * kSecond);
  CHECK(name_in_file(sink) == before);
  REQUIRE(pthread_setname_np(pthread_self(), "renamed") == 0);
  processes.refresh_thread_names(2 * kSecond);
  processes.write_news(sink, 2 * kSecond);
  CHECK(name_in_file(sink) == "renamed");
  pthread_setname_np(pthread_self(), before);
}

}  // namespace headway::record
