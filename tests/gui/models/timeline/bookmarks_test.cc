// SPDX-License-Identifier: MIT
#include "gui/models/timeline/bookmarks.h"

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
                       doctest::Contains("below.txt"), Error);
}

TEST_CASE("two people's files of notes unite by id, and the later change of a note counts") {
  test::TemporaryFolder folder;
  const std::filesystem::path mine = folder.path() / "run.headway-notes.json";
  const std::filesystem::path hers = folder.path() / "run.her.headway-notes.json";
  Bookmarks a;
  a.add({{{100}, {200}}, "both have it"});
  a.add({{{300}, {300}}, "is removed"});
  a.save(mine);
  std::filesystem::copy_file(mine, hers);
  Bookmarks b;
  b.load(hers);
  b.set_note(0, "changed by her");
  b.add({{{50}, {60}}, "hers"});
  b.save(hers);
  a.remove(1);
  a.add({{{50}, {60}}, "mine, of the same place"});
  a.save(mine);
  for (bool mine_first : {true, false}) {
    Bookmarks together;
    CHECK(together.unite(mine_first ? mine : hers) == 0);
    CHECK(together.unite(mine_first ? hers : mine) == 0);
    REQUIRE(together.all().size() == 3);
    CHECK(together.all()[0].note != together.all()[1].note);
    CHECK(together.all()[2].note == "changed by her");
    CHECK(together.all()[2].id == a.all()[1].id);
  }
  write(folder.path() / "run.sqlite", "a trace");
  CHECK(trace::notes_beside(folder.path() / "run.sqlite").all().size() == 3);
  CHECK(trace::notes_beside(folder.path() / "other.sqlite").all().empty());
}

TEST_CASE(
    "saving keeps what somebody else saved since, and leaves files of a newer version alone") {
  test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "run.headway-notes.json";
  Bookmarks a;
  Bookmarks b;
  a.add({{{1}, {2}}, "a"});
  a.save(file);
  b.add({{{3}, {4}}, "b"});
  b.save(file);
  CHECK(b.all().size() == 2);
  Bookmarks again;
  again.load(file);
  CHECK(again.all() == b.all());
  const std::string newer = R"({"headway_notes": 2, "notes": []})";
  write(file, newer);
  CHECK_THROWS_WITH_AS(a.save(file), doctest::Contains("newer Headway"), Error);
  CHECK(read(file) == newer);
}

TEST_CASE(
    "of notes that are cut in the middle the whole ones are read and the file is kept aside") {
  test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "run.headway-notes.json";
  Bookmarks all;
  all.add({{{1}, {2}}, "first \"quoted\" \n <b>"});
  all.add({{{3}, {4}}, "second"});
  all.save(file);
  const std::string cut = read(file).substr(0, read(file).size() - 12);
  write(file, cut);
  Bookmarks again;
  CHECK(again.load(file) == 2);  // the head without an end, and the second note
  REQUIRE(again.all().size() == 1);
  CHECK(again.all().front() == all.all().front());
  again.save(file);
  CHECK(read(file.string() + ".damaged") == cut);
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
