// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "collector/record/system/proc_files.h"
#include "collector/record/system/rate.h"
#include "tests/collector/run_recorder.h"

namespace headway::test {
namespace {

double average(const std::filesystem::path& trace, const std::string& series) {
  Rows rows = query(trace,
                    "SELECT avg(value) FROM HEADWAY_COUNTER JOIN HEADWAY_COUNTER_SERIES s ON "
                    "s.id=seriesId WHERE name=?1",
                    {series});
  return rows[0][0] == "NULL" ? -1 : std::stod(rows[0][0]);
}

}  // namespace

TEST_CASE("a busy process shows as busy, with its memory and its reads and writes") {
  TemporaryFolder folder;
  // Some 400 MB through read() and write(), which is work for one processor.
  Recorded run =
      record(folder, {"sh", "-c", "dd if=/dev/zero of=/dev/null bs=64k count=200000 2>/dev/null"},
             {"--sample-hz", "50"});
  REQUIRE(run.finished.status == 0);
  CHECK(number(run.trace,
               "SELECT max(value)>5 FROM HEADWAY_COUNTER JOIN HEADWAY_COUNTER_SERIES s ON "
               "s.id=seriesId WHERE name='process.cpu'") == 1);
  CHECK(number(run.trace,
               "SELECT max(value)<1000 FROM HEADWAY_COUNTER JOIN HEADWAY_COUNTER_SERIES s ON "
               "s.id=seriesId WHERE name='process.cpu'") == 1);
  CHECK(average(run.trace, "process.rss") > 100'000);
  CHECK(number(run.trace,
               "SELECT max(value)>10e6 FROM HEADWAY_COUNTER JOIN HEADWAY_COUNTER_SERIES s ON "
               "s.id=seriesId WHERE name='process.read_chars'") == 1);
  CHECK(average(run.trace, "machine.cpu") > 0);
  CHECK(average(run.trace, "machine.cpu") <= 100);
  CHECK(average(run.trace, "machine.memory_available") > 1e6);
  CHECK(number(run.trace,
               "SELECT count(DISTINCT unit) FROM HEADWAY_COUNTER_SERIES WHERE unit NOT "
               "IN ('%', 'bytes', 'bytes/s')") == 0);
}

TEST_CASE("each processor has a series, and so has what the kernel says of disks and pressure") {
  TemporaryFolder folder;
  Recorded run = record(folder, {"sh", "-c", "sleep 0.7"}, {"--sample-hz", "20"});
  REQUIRE(run.finished.status == 0);
  auto series = [&](const std::string& pattern) {
    return number(run.trace,
                  "SELECT count(*) FROM HEADWAY_COUNTER_SERIES WHERE globalPid IS NULL AND name "
                  "LIKE '" +
                      pattern + "'");
  };
  std::int64_t processors = 0;
  std::ifstream stat("/proc/stat");
  for (std::string line; std::getline(stat, line);)
    processors += line.starts_with("cpu") && !line.starts_with("cpu ");
  CHECK(series("machine.cpu.%") == processors);
  CHECK(series("machine.cpu") == 1);
  CHECK(average(run.trace, "machine.cpu.0") >= 0);
  CHECK(average(run.trace, "machine.cpu.0") <= 100);
  std::error_code error;
  CHECK(series("machine.pressure_%") ==
        (std::filesystem::exists("/proc/pressure/cpu", error) ? 5 : 0));
  CHECK(
      number(run.trace,
             "SELECT count(*) FROM HEADWAY_COUNTER JOIN HEADWAY_COUNTER_SERIES s ON s.id=seriesId "
             "WHERE unit='%' AND name LIKE 'machine.%' AND (value<0 OR value>100)") == 0);
  CHECK(series("machine.disk_write") == series("machine.disk_read"));
  CHECK(series("machine.disk_busy") == series("machine.disk_read"));
  CHECK(series("machine.network_sent") == series("machine.network_received"));
}

TEST_CASE("numbers are found in the texts of /proc") {
  using namespace record;
  CHECK(number_after("rchar: 12\nwchar: 34\nread_bytes: 5\n", "read_bytes") == 5);
  CHECK(number_after("rchar: 12\n", "char") == std::nullopt);
  CHECK(number_after("MemTotal:  7 kB\nMemAvailable:   99 kB\n", "MemAvailable") == 99);
  CHECK(number_after("", "x") == std::nullopt);
  CHECK(number_at("10 20 30\n", 1) == 20);
  CHECK(number_at("cpu  1 2 3\n", 2) == 2);
  CHECK(number_at("10 20", 2) == std::nullopt);
  CHECK(number_at("x", 0) == std::nullopt);
}

TEST_CASE("this process describes itself and descends from its parent") {
  using namespace record;
  std::optional<ProcessDescription> self = describe_process(::getpid());
  REQUIRE(self.has_value());
  CHECK(self->parent_pid == ::getppid());
  CHECK(self->name.starts_with("headway_test"));
  CHECK(descends_from(::getpid(), ::getppid()));
  CHECK(!descends_from(::getppid(), ::getpid()));
  CHECK(!describe_process(999'999'999).has_value());
  CHECK(children_of(999'999'999).empty());
}

TEST_CASE("a rate needs two values, and a sum that begins anew gives none") {
  record::Rate rate;
  CHECK(!rate.next(1'000'000'000, 100).has_value());
  CHECK(rate.next(1'500'000'000, 200) == 200.0);
  CHECK(!rate.next(1'500'000'000, 300).has_value());
  CHECK(!rate.next(2'000'000'000, 5).has_value());
  CHECK(rate.next(3'000'000'000, 6) == 1.0);
}

}  // namespace headway::test
