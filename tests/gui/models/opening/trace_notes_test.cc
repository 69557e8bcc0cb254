// SPDX-License-Identifier: MIT
#include "gui/models/opening/trace_notes.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "tests/gui/support/sessions.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_builder.h"
#include "tests/support/training_trace.h"
#include "trace/sqlite/database.h"

namespace headway::gui {
namespace {

namespace fs = std::filesystem;

/// A rank's recording that began `late` ns after the first.
void write_rank(const fs::path& folder, int rank, std::int64_t late) {
  test::TraceBuilder builder;
  test::TrainingTrace().build(builder);
  builder.writer().set_meta("env.RANK", std::to_string(rank));
  const fs::path file = folder / fmt::format("rank{}.sqlite", rank);
  fs::copy_file(builder.save(), file);
  trace::sqlite::Database::open(file).execute(
      fmt::format("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + {}", late));
}

std::shared_ptr<const Session> open_job(const fs::path& folder) {
  TraceSource source;
  source.files = {folder};
  return open_session(source, {}, {}, {});
}

/// A kernel of the rank.
Target kernel_of(const Session& session, int rank) {
  const trace::Trace& trace = session.trace;
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    const trace::Stream& stream = trace.streams[trace.device_ops.stream[i].value];
    if (trace.processes[stream.process.value].rank == rank)
      return Target::of(analyzer::EventRef::of(trace::DeviceOpId{i}));
  }
  return {};
}

}  // namespace

TEST_CASE("a note on a job lies beside the recording of its rank, in that recording's own time") {
  test::TemporaryFolder folder;
  const fs::path job = folder.path() / "job";
  fs::create_directories(job);
  write_rank(job, 0, 0);
  write_rank(job, 1, 250);
  write_rank(job, 2, 900);
  const auto session = open_job(job);
  REQUIRE(session->parts.size() == 3);
  CHECK(session->parts[2].shift.ns - session->parts[1].shift.ns == 650);

  const Target kernel = kernel_of(*session, 1);
  REQUIRE(kernel);
  const std::size_t part = part_of(session->parts, session->timeline, kernel, {});
  CHECK(session->parts[part].file.filename() == "rank1.sqlite");
  const Interval when = session->timeline.interval_of(kernel);

  TraceNotes notes;
  CHECK(notes.open(session->trace, session->parts, folder.path() / "own").empty());
  notes.add(part, {when, "the slow one"});
  notes.add(0, {{{5}, {5}}, "all of them"});
  CHECK(notes.save().empty());
  CHECK(fs::exists(job / "rank0.headway-notes.json"));
  CHECK(fs::exists(job / "rank1.headway-notes.json"));
  CHECK(!fs::exists(job / "rank2.headway-notes.json"));
  CHECK(!fs::exists(folder.path() / "own"));

  // The rank alone has it at the same event, the job again at the same place.
  const auto alone = open_session(job / "rank1.sqlite");
  TraceNotes of_rank;
  of_rank.open(alone->trace, alone->parts, folder.path() / "own");
  REQUIRE(of_rank.all().size() == 1);
  CHECK(of_rank.all()[0].when ==
        alone->timeline.interval_of(kernel_of(*alone, alone->trace.processes.front().rank)));
  CHECK(of_rank.all()[0].when.begin + session->parts[part].shift == when.begin);
  TraceNotes again;
  again.open(session->trace, session->parts, folder.path() / "own");
  REQUIRE(again.all().size() == 2);
  CHECK(again.all()[0].note == "all of them");
  CHECK(again.all()[1].when == when);
  CHECK(again.part_of(1) == part);

  // The notes that lie among the recordings now are none of them.
  CHECK(open_job(job)->parts.size() == 3);

  // Changes and removals find the file that a note came from.
  again.set_note(1, "slow since the last change");
  again.remove(0);
  CHECK(again.save().empty());
  CHECK(trace::notes_beside(job / "rank0.sqlite").all().empty());
  CHECK(trace::notes_beside(job / "rank1.sqlite").all().at(0).note == "slow since the last change");
}

TEST_CASE("notes of a rank that cannot be kept beside it are kept apart from those of the others") {
  test::TemporaryFolder folder;
  const fs::path job = folder.path() / "job";
  fs::create_directories(job);
  write_rank(job, 0, 0);
  write_rank(job, 1, 10);
  const auto session = open_job(job);
  fs::create_directory(job / "rank1.headway-notes.json");  // where a file should be
  TraceNotes notes;
  notes.open(session->trace, session->parts, folder.path() / "own");
  CHECK(notes.are_kept());
  notes.add(0, {{{1}, {2}}, "zero"});
  notes.add(1, {{{1}, {2}}, "one"});
  CHECK(notes.save().find((folder.path() / "own").string()) != std::string::npos);
  TraceNotes again;
  again.open(session->trace, session->parts, folder.path() / "own");
  REQUIRE(again.all().size() == 2);
  CHECK(again.part_of(0) != again.part_of(1));
  // Without a folder of the user's nothing is written at all.
  TraceNotes volatile_notes;
  volatile_notes.open(session->trace, session->parts, {});
  CHECK(!volatile_notes.are_kept());
  volatile_notes.add(0, {{{3}, {4}}, "gone"});
  volatile_notes.save();
  CHECK(trace::notes_beside(job / "rank0.sqlite").all().size() == 1);
}

}  // namespace headway::gui
