// SPDX-License-Identifier: MIT
// Opening: in two stages, within memory, several files, and whatever a hostile file holds.
#include "gui/models/opening/session.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "analyzer/job/analyze_job.h"
#include "analyzer/whatif/predict_findings.h"
#include "common/error.h"
#include "gui/models/details/details.h"
#include "gui/models/details/findings.h"
#include "gui/models/figures/rank_map.h"
#include "gui/models/opening/memory_room.h"
#include "gui/models/opening/row_identity.h"
#include "gui/models/search/search.h"
#include "gui/models/timeline/row_layout.h"
#include "tests/analyzer/ranks/planted_job.h"
#include "tests/gui/support/sessions.h"
#include "tests/support/recordings.h"
#include "tests/support/training_trace.h"

namespace headway::gui {
namespace {

namespace fs = std::filesystem;

TraceSource source_of(const fs::path& file) {
  TraceSource source;
  source.files = {file};
  return source;
}

/// Draws, describes, searches and lays out whatever is there, as the window would.
void use(const Session& session) {
  const TimelineModel& model = session.timeline;
  RowLayout layout(model, {});
  TimeMapping all(model.bounds, 1000);
  for (const TimeMapping& mapping :
       {all, all.zoomed(1e6, 500, model.bounds), all.zoomed(1e12, 0, model.bounds),
        all.zoomed(50, 999, model.bounds).panned(1e9, model.bounds)}) {
    ColumnGrid grid(mapping);
    std::vector<LaneItem> items;
    for (const Row& row : model.rows) {
      for (const Lane& lane : row.lanes) {
        lane.collect(grid, 0, grid.width(), items);
        LaneTotals totals;
        lane.add_totals(mapping.visible(), totals);
      }
    }
    for (const CounterLane& counter : model.counters) {
      std::vector<CounterColumn> columns;
      counter.collect(grid, columns);
    }
  }
  for (std::uint32_t r = 0; r < model.rows.size(); r += 1 + r / 50) {
    for (const Lane& lane : model.rows[r].lanes) {
      Target target = model.target_of(RowId{r}, lane.rows(0).front());
      if (target) CHECK(!describe(model, target).empty());
    }
  }
  Search search(session.trace, session.analysis, "e");
  if (search.hits() > 0) CHECK(search.next({}, true));
}

}  // namespace

TEST_CASE("a first look shows every event before the analysis, which then adds to it") {
  std::shared_ptr<const Session> first;
  TraceSource source = source_of(test::training_file());
  source.first_look_from = 1;
  std::shared_ptr<const Session> full =
      open_session(source, {}, {}, [&](std::shared_ptr<const Session> look) { first = look; });
  REQUIRE(first);
  CHECK(!first->analysed);
  CHECK(full->analysed);
  CHECK(&first->trace == &full->trace);
  CHECK(first->timeline.bounds == full->timeline.bounds);
  CHECK(first->analysis.partitions.empty());
  CHECK(!full->analysis.partitions.empty());
  CHECK(first->timeline.rows.size() < full->timeline.rows.size());
  std::vector<RowId> matches = match_rows(first->timeline, full->timeline);
  std::size_t found = 0;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Row& row = full->timeline.rows[i];
    CHECK(matches[i].valid() == (row.kind != RowKind::kPartition));
    if (!matches[i].valid()) continue;
    ++found;
    const Row& before = first->timeline.row(matches[i]);
    CHECK(before.label == row.label);
    REQUIRE(before.lanes.size() == row.lanes.size());
    for (std::size_t l = 0; l < row.lanes.size(); ++l)
      CHECK(before.lanes[l].events() == row.lanes[l].events());
  }
  CHECK(found == first->timeline.rows.size());
  use(*first);
  use(*full);
}

TEST_CASE("a small trace has no first look") {
  bool looked = false;
  open_session(source_of(test::training_file()), {}, {},
               [&](const std::shared_ptr<const Session>&) { looked = true; });
  CHECK(!looked);
}

TEST_CASE("opening can be cancelled wherever it tells of its progress") {
  struct Cancelled {};
  int calls = 0;
  open_session(test::training_file(), {}, [&](std::string_view, double) { ++calls; });
  CHECK(calls > 8);
  for (int stop = 1; stop <= calls; ++stop) {
    int seen = 0;
    CHECK_THROWS_AS(open_session(test::training_file(), {},
                                 [&](std::string_view, double) {
                                   if (++seen == stop) throw Cancelled();
                                 }),
                    Cancelled);
  }
}

TEST_CASE("progress only grows and ends at one") {
  double last = 0;
  open_session(test::training_file(), {}, [&](std::string_view what, double share) {
    CHECK(!what.empty());
    CHECK(share >= last);
    last = share;
  });
  CHECK(last == 1);
}

TEST_CASE("rows and selection are found again in a file that has grown") {
  test::TraceBuilder early;
  test::TraceBuilder late;
  for (test::TraceBuilder* builder : {&early, &late}) {
    // A thread that comes first in the later file only: ids in memory change.
    if (builder == &late) builder->range(7, "newcomer", 0, 5);
    builder->range(1, "step", 10, 100);
    builder->range(1, "inner", 20, 30);
    builder->launch(1, 40, 50, 60, 70, {.name = "kernel"});
    builder->counter("process.cpu", "%", 5, 1);
    if (builder == &late) builder->range(1, "later", 200, 300);
  }
  auto before = test::session_of(early);
  auto after = test::session_of(late);
  for (const char* name : {"step", "inner", "kernel"}) {
    Target old = Target::of(test::event_named(before->trace, name));
    Target now = find_again(*before, old, *after);
    CHECK(now == Target::of(test::event_named(after->trace, name)));
  }
  CHECK(!find_again(*after, Target::of(test::event_named(after->trace, "later")), *before));
  CHECK(!find_again(*before, Target::segment(0, 0), *after));
  std::vector<RowId> matches = match_rows(before->timeline, after->timeline);
  std::size_t new_rows = 0;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (!matches[i].valid()) {
      ++new_rows;
      CHECK(after->timeline.rows[i].kind == RowKind::kThread);
    } else {
      CHECK(before->timeline.row(matches[i]).label == after->timeline.rows[i].label);
    }
  }
  CHECK(new_rows == 1);
}

TEST_CASE("a trace that does not fit into memory offers a stretch that opens") {
  TraceSource source = source_of(test::training_file());
  source.memory_bytes = 50'000;
  try {
    open_session(source, {}, {}, {});
    FAIL("opened");
  } catch (const TooLarge& too_large) {
    CHECK(std::string(too_large.what()).find("--load-range") != std::string::npos);
    CHECK(!too_large.stretch().empty());
    source.stretch = too_large.stretch();
  }
  auto part = open_session(source, {}, {}, {});
  CHECK(part->trace.event_count() > 0);
  CHECK(part->trace.event_count() < test::training_session()->trace.event_count());
  CHECK(part->trace.losses.at(0).name == "loaded_in_part");
  use(*part);
}

TEST_CASE("this machine's free memory is known") {
  CHECK(free_memory_bytes() > 1'000'000);
}

TEST_CASE("a stretch is written as the command line takes it") {
  CHECK(stretch_text({{1'500'000'000}, {20'000'000'000}}) == "1.5s..20s");
}

TEST_CASE("a folder of ranks opens as one timeline") {
  test::TemporaryFolder folder;
  for (int rank = 0; rank < 3; ++rank) {
    test::TraceBuilder builder;
    test::TrainingTrace().build(builder);
    builder.writer().set_meta("env.RANK", std::to_string(rank));
    fs::copy_file(builder.save(), folder / ("run.rank" + std::to_string(rank) + ".sqlite"));
  }
  auto session = open_session(source_of(folder.path()), {}, {}, {});
  CHECK(session->trace.processes.size() == 3 * test::training_session()->trace.processes.size());
  std::string labels;
  for (const Row& row : session->timeline.rows) labels += row.label + "\n";
  for (const char* rank : {"Rank 0 · ", "Rank 1 · ", "Rank 2 · "})
    CHECK(labels.find(rank) != std::string::npos);
  use(*session);
  CHECK_THROWS_AS(open_session(source_of(folder / "run.rank7.sqlite"), {}, {}, {}), Error);
}

TEST_CASE("names of a megabyte, deep and overlapping ranges and ten thousand threads open") {
  test::TraceBuilder builder;
  test::build_hostile(builder, 10'000);
  auto session = open_session(builder.save());
  CHECK(session->timeline.rows.size() > 10'000);
  use(*session);
}

TEST_CASE("times at both ends of 64 bits are set aside and counted, zero-length events stay") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  test::TraceBuilder builder;
  builder.range(1, "fine", 10, 20);
  builder.range(1, "all of time", least, most);
  builder.range(1, "early", least, least + 1);
  builder.range(1, "late", most - 1, most);
  builder.range(1, "backwards", most, least);
  builder.launch(1, most, most, least, most, {});
  builder.launch(1, 12, 12, 12, 12, {.name = "nothing"});
  builder.counter("process.cpu", "%", most, 1);
  builder.counter("process.cpu", "%", least, 1);
  for (int i = 0; i < 1000; ++i) builder.range(1, "point", 15, 15);
  builder.open_range(1, "open", most - 5);
  auto session = open_session(builder.save());
  CHECK(session->trace.ranges.size() == 1001);
  CHECK(session->timeline.bounds.length().ns > 0);
  CHECK(std::any_of(session->trace.losses.begin(), session->trace.losses.end(),
                    [](const auto& loss) { return loss.name == "time_out_of_range"; }));
  use(*session);
}

TEST_CASE("a trace without steps, and one without anything, open with a reason") {
  test::TraceBuilder no_steps;
  no_steps.launch(1, 1, 2, 3, 4, {});
  auto session = open_session(no_steps.save());
  CHECK(session->analysis.steps.all.empty());
  CHECK(session->timeline.steps.events() == 0);
  CHECK(session->step_charts.empty());
  use(*session);
  test::TraceBuilder empty;
  session = open_session(empty.save());
  CHECK(!session->analysis.doubts.empty());
  use(*session);
}

TEST_CASE("a file cut anywhere opens or says what is wrong") {
  std::ifstream in(test::training_file(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  test::TemporaryFolder folder;
  fs::path cut = folder / "cut.sqlite";
  for (std::size_t part = 0; part <= 16; ++part) {
    std::ofstream(cut, std::ios::binary | std::ios::trunc)
        << whole.substr(0, whole.size() * part / 17);
    CHECK_THROWS_WITH_AS(open_session(cut), doctest::Contains("cut.sqlite"), Error);
  }
}

TEST_CASE("every recording of other tools opens as a timeline") {
  std::vector<fs::path> files = test::recordings(".sqlite");
  for (const fs::path& file : test::recordings(".json.gz")) files.push_back(file);
  if (files.empty()) {
    MESSAGE("skipped: there are no recordings at ", test::recordings_folder());
    return;
  }
  for (const fs::path& file : files) {
    CAPTURE(file);
    auto session = open_session(file);
    CHECK(!session->timeline.rows.empty());
    CHECK(session->analysed);
    use(*session);
  }
}

TEST_CASE("the window's findings of a job are those of the command line") {
  // Training threads alone: such a job is replayed by its critical rank.
  const std::string late =
      "plants: nothing\nexpect: nothing\nranks 4\nthread main\n  steps 20\n"
      "    on rank=0,2,3\n      range batch kind=batch\n        host 1ms\n"
      "    on rank=1\n      range batch kind=batch\n        host 13ms\n"
      "    range backward kind=phase phase=backward\n      host 24ms\n"
      "      on rank=0,2,3\n        range \"c10d::allreduce_ (waited for)\" kind=phase "
      "phase=communication\n"
      "          host 13ms\n"
      "      on rank=1\n        range \"c10d::allreduce_ (waited for)\" kind=phase "
      "phase=communication\n"
      "          host 1ms\n";
  auto job = analyzer::analyze_ranks(test::planted_trace(late));
  analyzer::predict_findings(job->trace, job->analysis, {}, job->whole ? &*job->whole : nullptr);
  const auto first = make_first_look({test::planted_trace(late)}, {});
  const auto session = complete_session(*first, {}, {});
  const std::vector<analyzer::Finding>& shown = session->analysis.findings;
  REQUIRE(!shown.empty());
  REQUIRE(shown.size() == job->analysis.findings.size());
  CHECK(shown.front().rule == "straggler");
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const analyzer::Finding& told = job->analysis.findings[i];
    CAPTURE(std::string(told.rule));
    CHECK(shown[i].rule == told.rule);
    CHECK(shown[i].status == told.status);
    CHECK(shown[i].share_of_step == told.share_of_step);
    REQUIRE(shown[i].fixes.size() == told.fixes.size());
    for (std::size_t k = 0; k < told.fixes.size(); ++k)
      CHECK(shown[i].fixes[k].share == told.fixes[k].share);
  }
}

TEST_CASE("of a job the window has the command line's step cost, doubts and waits, on all ranks") {
  const std::string late = test::kEvenJob + "    on rank=2\n      host 3ms\n";
  auto job = analyzer::analyze_ranks(test::planted_trace(late));
  analyzer::predict_findings(job->trace, job->analysis, {}, job->whole ? &*job->whole : nullptr);
  const auto session = make_session(test::planted_trace(late));
  const analyzer::Analysis& shown = session->analysis;
  REQUIRE(shown.job);
  CHECK(shown.job->ranks.size() == 4);
  CHECK(shown.job->ranks[shown.job->critical].identity.rank == 2);
  CHECK(shown.step_cost.per_step() == job->analysis.step_cost.per_step());
  CHECK(shown.median_step == job->analysis.median_step);
  CHECK(shown.samples_per_step == job->analysis.samples_per_step);
  REQUIRE(shown.doubts.size() == job->analysis.doubts.size());
  for (std::size_t i = 0; i < shown.doubts.size(); ++i)
    CHECK(shown.doubts[i].text == job->analysis.doubts[i].text);
  // Every rank's partition has its waits split off, as the job's summary has.
  REQUIRE(shown.partitions.size() == 4);
  for (const analyzer::DevicePartition& partition : shown.partitions) {
    const trace::ProcessId process = session->trace.devices[partition.device.value].process;
    const std::int32_t number = session->trace.processes[process.value].rank;
    for (const analyzer::RankSummary& rank : shown.job->ranks) {
      if (rank.identity.rank != number) continue;
      const analyzer::RankDevice* device = analyzer::main_device(rank);
      REQUIRE(device);
      for (const analyzer::TimeClassInfo& c : analyzer::time_classes())
        CHECK(partition.per_steady_step[c.time_class] == device->per_steady_step[c.time_class]);
    }
    for (const analyzer::DeviceStep& step : partition.steps)
      CHECK(step.times.total() == step.interval.length());
  }
  // The summary is about the rank that the report looks at.
  REQUIRE(session->summary.waterfall);
  CHECK(session->summary.waterfall->title.find("rank 2") != std::string::npos);
  CHECK(session->summary.waterfall->length == job->analysis.step_cost.per_step());
}

TEST_CASE("evidence of a job leads to events of the rank that it is about") {
  const auto session =
      make_session(test::planted_trace(test::kEvenJob + "    on rank=2\n      host 3ms\n"));
  const analyzer::Analysis& analysis = session->analysis;
  std::size_t events = 0;
  for (const analyzer::Finding& finding : analysis.findings) {
    for (const analyzer::Evidence& evidence : finding.evidence) {
      const std::string note = evidence_note(session->trace, analysis, finding, evidence);
      if (evidence.event.kind == analyzer::EventRef::Kind::kNone) continue;
      ++events;
      CAPTURE(note);
      CHECK(note.starts_with("Rank "));
      const Interval when = analyzer::interval_of(session->trace, evidence.event);
      CHECK(!intersect(Interval{when.begin, when.end + DurationNs{1}}, evidence.where).empty());
      CHECK(place_of(session->timeline, evidence).target);
    }
  }
  CHECK(events > 0);
}

TEST_CASE("the map of ranks opens on the cause, not on the step that is as long everywhere") {
  const auto late =
      make_session(test::planted_trace(test::kEvenJob + "    on rank=2\n      host 3ms\n"));
  CHECK(make_rank_map(late->trace, late->analysis).most_different() == RankMetric::kHost);
  const auto even = make_session(test::planted_trace(test::kEvenJob));
  CHECK(make_rank_map(even->trace, even->analysis).most_different() == RankMetric::kStep);
}

}  // namespace headway::gui
