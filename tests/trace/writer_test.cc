// SPDX-License-Identifier: MIT
#include "trace/save/writer.h"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/error.h"
#include "tests/support/temporary_folder.h"
#include "trace/load/load.h"
#include "trace/meta_keys.h"
#include "trace/tables/all.h"

namespace headway::trace {
namespace {

tables::Kernel::Row kernel(std::int64_t i, StringId name) {
  tables::Kernel::Row row;
  row.start = i * 1000;
  row.end = i * 1000 + 500;
  row.stream_id = 7;
  row.correlation_id = i + 1;
  row.global_pid = std::int64_t{42} << 24;
  row.demangled_name = name;
  row.short_name = name;
  return row;
}

std::string integrity(const std::filesystem::path& path) {
  sqlite::Database db = sqlite::Database::open_read_only(path);
  sqlite::Statement statement = db.prepare("PRAGMA integrity_check");
  statement.step();
  return std::string(statement.text(0));
}

/// A copy of `from` whose writer was killed in the middle of a transaction: half of it is in the file, and
/// what takes it back lies beside it.
void copy_cut_transaction(const std::filesystem::path& from, const std::filesystem::path& to) {
  sqlite::Database database = sqlite::Database::open(from);
  database.execute("PRAGMA journal_mode=DELETE");
  database.execute("BEGIN");
  database.execute("UPDATE StringIds SET value = 'half'");
  database.execute("CREATE TABLE half(x)");
  REQUIRE(sqlite3_db_cacheflush(database.handle()) == SQLITE_OK);
  std::filesystem::copy_file(from, to);
  std::filesystem::copy_file(from.string() + "-journal", to.string() + "-journal");
  database.execute("ROLLBACK");
}

}  // namespace

TEST_CASE("every declared table can be created and takes a row of defaults") {
  test::TemporaryFolder folder;
  TraceWriter writer(folder / "all.sqlite");
  int count = 0;
  for_each_table([&]<class Table>() {
    if constexpr (!std::is_same_v<Table, tables::StringIds>) {
      writer.add<Table>(typename Table::Row{});
    }
    ++count;
  });
  writer.finish();
  CHECK(count >= 30);
  CHECK(integrity(folder / "all.sqlite") == "ok");
}

TEST_CASE("what is written comes back, and the file is private and a single one") {
  test::TemporaryFolder folder;
  auto path = folder / "a b.sqlite";
  {
    TraceWriter writer(path);
    StringId name = writer.intern("conv");
    CHECK(writer.intern("conv") == name);
    for (int i = 0; i < 10000; ++i) writer.add<tables::Kernel>(kernel(i, name));
    writer.count_loss(Loss::kRingFull, 3);
    writer.count_loss(Loss::kRingFull, 4);
    writer.finish();
  }
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(!std::filesystem::exists(path.string() + "-wal"));
  Trace trace = load(path);
  CHECK(trace.complete);
  REQUIRE(trace.device_ops.size() == 10000);
  CHECK(trace.strings[trace.device_ops.name[9999]] == "conv");
  CHECK(trace.device_ops.start[9999].ns == 9'999'000);
  REQUIRE(trace.losses.size() == 2);  // and the ops without a launch
  CHECK(trace.losses[0].name == "ring_full");
  CHECK(trace.losses[0].count == 7);
}

TEST_CASE("a writer killed inside a transaction leaves a trace that opens as it was before") {
  test::TemporaryFolder folder;
  {
    TraceWriter writer(folder / "t.sqlite");
    writer.add<tables::Kernel>(kernel(0, writer.intern("conv")));
    writer.finish();
  }
  copy_cut_transaction(folder / "t.sqlite", folder / "cut.sqlite");
  const Trace trace = load(folder / "cut.sqlite");
  CHECK(trace.strings[trace.device_ops.name[0]] == "conv");
  CHECK(integrity(folder / "cut.sqlite") == "ok");
}

TEST_CASE("a log that was left under the name of a new trace is not taken for its own") {
  test::TemporaryFolder folder;
  {
    TraceWriter writer(folder / "t.sqlite");
    for (int i = 0; i < 10'000; ++i)
      writer.add<tables::Kernel>(kernel(i, writer.intern("conv" + std::to_string(i))));
    writer.finish();
  }
  copy_cut_transaction(folder / "t.sqlite", folder / "cut.sqlite");
  std::filesystem::remove(folder / "cut.sqlite");
  {
    TraceWriter writer(folder / "cut.sqlite");
    writer.add<tables::Kernel>(kernel(0, writer.intern("gemm")));
    writer.finish();
  }
  const Trace trace = load(folder / "cut.sqlite");
  REQUIRE(trace.device_ops.size() == 1);
  CHECK(trace.strings[trace.device_ops.name[0]] == "gemm");
  CHECK(integrity(folder / "cut.sqlite") == "ok");
}

TEST_CASE("an existing file is not overwritten unless asked, and a folder never") {
  test::TemporaryFolder folder;
  { TraceWriter first(folder / "t.sqlite"); }
  CHECK_THROWS_WITH_AS(TraceWriter(folder / "t.sqlite"), doctest::Contains("--force"), Error);
  CHECK_NOTHROW(TraceWriter(folder / "t.sqlite", true));
  CHECK_THROWS_WITH_AS(TraceWriter(folder.path(), true), doctest::Contains("is a folder"), Error);
}

TEST_CASE("invalid UTF-8 in names is stored as valid text") {
  test::TemporaryFolder folder;
  TraceWriter writer(folder / "t.sqlite");
  StringId bad = writer.intern("\xff");
  CHECK(writer.intern("\xff") == bad);
  CHECK(writer.intern("\uFFFD") == bad);
  writer.add<tables::Kernel>(kernel(0, bad));
  writer.finish();
  Trace trace = load(folder / "t.sqlite");
  CHECK(trace.strings[trace.device_ops.name[0]] == "\uFFFD");
}

TEST_CASE("what was committed survives SIGKILL of the writer, and the trace says that it was cut") {
  test::TemporaryFolder folder;
  auto path = folder / "killed.sqlite";
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    TraceWriter writer(path);
    StringId name = writer.intern("conv");
    for (int i = 0; i < 5000; ++i) writer.add<tables::Kernel>(kernel(i, name));
    writer.commit();
    for (int i = 5000; i < 9000; ++i) writer.add<tables::Kernel>(kernel(i, name));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(integrity(path) == "ok");
  Trace trace = load(path);
  CHECK(trace.device_ops.size() >= 5000);
  CHECK(!trace.complete);
}

}  // namespace headway::trace
