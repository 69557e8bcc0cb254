// SPDX-License-Identifier: MIT
#include "gui/models/bookmarks.h"

#include <doctest/doctest.h>

#include <fstream>

#include "common/error.h"
#include "tests/gui/support/sessions.h"
#include "tests/support/temporary_folder.h"

namespace headway::gui {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("bookmarks come back from their file as they were, whatever their notes hold") {
  test::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "a folder" / "notes.txt";
  Bookmarks bookmarks;
  bookmarks.add({{{500}, {900}}, "second"});
  bookmarks.add({{{-5}, {-5}}, "tab\there\nand a line, a \\ and \\n"});
  bookmarks.add({{{500}, {500}}, "漢字 🚀 <b>"});
  bookmarks.save(file);
  Bookmarks again;
  CHECK(again.load(file) == 0);
  CHECK(again.all() == bookmarks.all());
  REQUIRE(again.all().size() == 3);
  CHECK(again.all()[0].when.begin.ns == -5);  // by time
  CHECK(again.all()[1].when.end.ns == 500);
  CHECK(!std::filesystem::exists(file.string() + ".part"));
}

TEST_CASE("the same place twice is one bookmark, and notes are changed and removed") {
  Bookmarks bookmarks;
  CHECK(bookmarks.add({{{1}, {2}}, "one"}) == 0);
  CHECK(bookmarks.add({{{1}, {2}}, ""}) == 0);
  CHECK(bookmarks.all().front().note == "one");
  CHECK(bookmarks.add({{{1}, {2}}, "two"}) == 0);
  REQUIRE(bookmarks.all().size() == 1);
  CHECK(bookmarks.all().front().note == "two");
  bookmarks.set_note(0, std::string(100'000, 'x') + "\xff");
  CHECK(bookmarks.all().front().note.size() == Bookmarks::kMostNoteBytes);
  bookmarks.remove(0);
  CHECK(bookmarks.all().empty());
  for (std::int64_t i = 0; i < 10'010; ++i) bookmarks.add({{{i}, {i}}, ""});
  CHECK(bookmarks.all().size() == Bookmarks::kMost);
}

TEST_CASE("a damaged file gives what can be read, says how much is lost and is kept aside") {
  test::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "notes.txt";
  const std::string damaged =
      "headway bookmarks 1\n100\t200\tgood\nnonsense\n5\n7\t3\tbackwards\n"
      "99999999999999999999\t1\ttoo far\n9223372036854775807\t9223372036854775807\tthe end\n"
      "300\t300\talso good\n\x01\xff\xfe";
  write(file, damaged);
  Bookmarks bookmarks;
  CHECK(bookmarks.load(file) == 6);
  REQUIRE(bookmarks.all().size() == 2);
  CHECK(bookmarks.all()[1].note == "also good");
  bookmarks.add({{{1}, {1}}, "new"});
  bookmarks.save(file);
  CHECK(read(file.string() + ".damaged") == damaged);
  CHECK(Bookmarks().load(file) == 0);
}

TEST_CASE("no file is no bookmarks, other files and folders that are none are refused in words") {
  test::TemporaryFolder folder;
  Bookmarks bookmarks;
  CHECK(bookmarks.load(folder.path() / "none.txt") == 0);
  write(folder.path() / "other", "SQLite format 3\nsomething");
  CHECK(bookmarks.load(folder.path() / "other") == 2);
  CHECK_THROWS_AS(bookmarks.load(folder.path()), Error);
  write(folder.path() / "file", "");
  CHECK_THROWS_WITH_AS(bookmarks.save(folder.path() / "file" / "below.txt"),
                       doctest::Contains("cannot be kept"), Error);
}

TEST_CASE("a trace keeps its identity when it is copied or grows, and differs from others") {
  std::string identity = identity_of(test::training_session()->trace);
  CHECK(identity.size() == 16);
  test::TemporaryFolder folder;
  std::filesystem::path copy = folder.path() / "copy of it.sqlite";
  std::filesystem::copy_file(test::training_file(), copy);
  CHECK(identity_of(gui::open_session(copy)->trace) == identity);
  trace::Trace trace = test::two_rank_trace();
  std::string other = identity_of(trace);
  CHECK(other != identity);
  trace.ranges.end[0] = {9000};
  trace.end = {9000};
  CHECK(identity_of(trace) == other);
}

}  // namespace headway::gui
