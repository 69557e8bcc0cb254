// SPDX-License-Identifier: MIT
#include "analyzer/ranks/job.h"
#include "analyzer/job/summarise.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/job/analyze_job.h"
#include "analyzer/ranks/identity.h"
#include "analyzer/ranks/work.h"
#include "analyzer/report/job.h"
#include "analyzer/report/report.h"
#include "common/error.h"
#include "tests/analyzer/ranks/planted_job.h"
#include "tests/analyzer/ranks/summaries.h"

namespace headway::analyzer {

using test::analyze_planted;
using test::kEvenJob;

TEST_CASE(
    "a late rank's delay becomes the others' straggler wait, to the nanosecond of each step") {
  auto report = analyze_planted(kEvenJob + "    on rank=2\n      host 3ms\n");
  REQUIRE(report->analysis.job);
  const JobAnalysis& job = *report->analysis.job;
  REQUIRE(job.ranks.size() == 4);
  CHECK(job.critical == 2);
  for (std::uint32_t r = 0; r < 4; ++r) {
    const RankDevice* device = main_device(job.ranks[r]);
    REQUIRE(device);
    for (const RankStep& step : device->steps) CHECK(step.times.total() == step.time.length());
    if (r == 2) {
      CHECK(job.roles[r].exposed_wait.ns == 0);
    } else {
      CHECK(job.roles[r].exposed_wait.milliseconds() == doctest::Approx(3).epsilon(0.1));
    }
  }
  CHECK(job.roles[2].caused_wait.milliseconds() == doctest::Approx(3).epsilon(0.1));
  // The delay ends each step, so the first collective comes before any.
  CHECK(job.roles[2].last == job.roles[2].synchronised - 1);
  REQUIRE(job.collectives.size() == 1);
  CHECK(job.collectives[0].transfer.microseconds() == doctest::Approx(400).epsilon(0.1));
}

TEST_CASE("an even job has no wait worth a word") {
  auto report = analyze_planted(kEvenJob);
  const JobAnalysis& job = *report->analysis.job;
  for (const RankRole& role : job.roles) CHECK(ratio(role.exposed_wait, job.step) < 0.05);
  CHECK(job.matching.groups.size() == 1);
  CHECK(job.matching.groups[0].unmatched == 0);
  CHECK(std::all_of(job.clocks.hosts.begin(), job.clocks.hosts.end(),
                    [](const HostClock& h) { return h.aligned; }));
}

TEST_CASE("the critical rank's own partition is split as its summary is") {
  auto report = analyze_planted(kEvenJob + "    on rank=0 every=2\n      host 2ms\n" +
                                "    on rank=1 every=2 offset=1\n      host 2ms\n");
  const JobAnalysis& job = *report->analysis.job;
  REQUIRE(!report->analysis.partitions.empty());
  const RankDevice* device = main_device(job.ranks[job.critical]);
  const DevicePartition& partition = report->analysis.partitions[0];
  REQUIRE(partition.steps.size() == device->steps.size());
  bool any_wait = false;
  for (std::size_t s = 0; s < partition.steps.size(); ++s) {
    CHECK(partition.steps[s].times.of == device->steps[s].times.of);
    any_wait = any_wait || partition.steps[s].times[TimeClass::kStragglerWait].ns > 0;
  }
  CHECK(any_wait);
  CHECK(partition.per_steady_step.of == device->per_steady_step.of);
}

TEST_CASE("the same job gives the same report whatever the order of its ranks") {
  trace::Trace trace = test::planted_trace(kEvenJob);
  std::vector<RankSummary> summaries;
  std::vector<RankProcesses> ranks = ranks_in(trace, 0);
  REQUIRE(ranks.size() == 4);
  for (const RankProcesses& rank : ranks) {
    trace::Trace own = take_rank(trace, rank.main, ranks);
    summaries.push_back(summarise(own, analyze(own), rank.identity));
  }
  std::vector<RankSummary> reversed(summaries.rbegin(), summaries.rend());
  JobAnalysis a = combine(summaries);
  JobAnalysis b = combine(reversed);
  REQUIRE(a.ranks.size() == b.ranks.size());
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    CHECK(to_bytes(a.ranks[r]) == to_bytes(b.ranks[r]));
    CHECK(a.roles[r].waits == b.roles[r].waits);
  }
}

TEST_CASE("a summary survives the way to another process byte by byte") {
  trace::Trace trace = test::planted_trace(kEvenJob);
  std::vector<RankProcesses> ranks = ranks_in(trace, 0);
  trace::Trace own = take_rank(trace, ranks[1].main, ranks);
  RankSummary summary = summarise(own, analyze(own), ranks[1].identity);
  std::string bytes = to_bytes(summary);
  RankSummary back = rank_summary_from(bytes);
  CHECK(to_bytes(back) == bytes);
  CHECK(back.identity.rank == 1);
  CHECK(back.findings.size() == summary.findings.size());
  CHECK(!back.findings[0].title.empty());
  for (std::size_t size : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1})
    CHECK_THROWS_AS(rank_summary_from(std::string_view(bytes).substr(0, size)), Error);
  CHECK_THROWS_AS(rank_summary_from(bytes + "x"), Error);
}

TEST_CASE("two recordings of one rank are an error that names both files") {
  std::vector<RankSummary> ranks = {test::bare_rank(3), test::bare_rank(3)};
  ranks[0].file = "a.json";
  ranks[1].file = "b.json";
  CHECK_THROWS_WITH_AS(combine(ranks), doctest::Contains("a.json and b.json: both are rank 3"),
                       Error);
}

TEST_CASE("ranks that are not there, guessed numbers and unmatched collectives are told first") {
  std::vector<RankSummary> ranks = {test::bare_rank(0), test::bare_rank(1)};
  ranks[0].world_size = 8;
  ranks[1].identity.source = RankSource::kFileName;
  test::add_collective(ranks[0], "dp", "allreduce", 0, 100, 1, 1);
  JobAnalysis job = combine(ranks);
  std::string all;
  for (const Doubt& doubt : job.doubts) all += doubt.text + "\n";
  CHECK(all.find("2 of 8 ranks are here") != std::string::npos);
  CHECK(all.find("1 of 2 traces") != std::string::npos);
  CHECK(all.find("1 of 1 communications") != std::string::npos);
}

TEST_CASE("file names tell ranks in the usual spellings") {
  CHECK(rank_in_name("trace_rank3.json") == 3);
  CHECK(rank_in_name("run-Rank-12.sqlite") == 12);
  CHECK(rank_in_name("worker7.pt.trace.json.gz") == 7);
  CHECK(rank_in_name("r0.json") == 0);
  CHECK(rank_in_name("rank=5,step=2.json") == 5);
  CHECK(!rank_in_name("trace.json"));
  CHECK(!rank_in_name("frank3.json"));
  CHECK(!rank_in_name("rank.json"));
  CHECK(!rank_in_name("rank99999999999.json"));
}

TEST_CASE("shapes are counted as elements, whatever a hostile text holds") {
  CHECK(elements_of_shapes("[[32, 1024], [1024], []]") == 32 * 1024 + 1024 + 1);
  CHECK(elements_of_shapes("[]") == 0);
  CHECK(elements_of_shapes("[[0, 5]]") == 0);
  CHECK(elements_of_shapes("") == -1);
  CHECK(elements_of_shapes("nonsense") == -1);
  CHECK(elements_of_shapes("[[[1]]]") == -1);
  CHECK(elements_of_shapes("]") == -1);
  CHECK(elements_of_shapes("[[99999999999999999999, 99999999999999999999, 99999999]]") >= 0);
}

TEST_CASE("a job's reports name the ranks, escape their names, and are the same each time") {
  auto report = analyze_planted(kEvenJob + "    on rank=2\n      host 3ms\n");
  ReportOptions options{.tool_version = "1"};
  for (ReportFormat format :
       {ReportFormat::kText, ReportFormat::kMarkdown, ReportFormat::kJson, ReportFormat::kHtml}) {
    std::string text = render(format, report->trace, report->analysis, options);
    CHECK(text == render(format, report->trace, report->analysis, options));
    std::string_view says =
        format == ReportFormat::kHtml ? "One rank keeps the others waiting" : "straggler";
    CHECK(text.find(says) != std::string::npos);
  }
  std::string text = render(ReportFormat::kText, report->trace, report->analysis, options);
  CHECK(text.find("4 of 4 ranks") != std::string::npos);
  CHECK(text.find("for rank 2, which is last") != std::string::npos);
  std::string html = render(ReportFormat::kHtml, report->trace, report->analysis, options);
  CHECK(html.find("Waits per rank and step") != std::string::npos);
}

TEST_CASE(
    "on a job's page the rank that the others wait for stands out, and nobody where all are even") {
  const ReportOptions options{.tool_version = "1"};
  const auto late = analyze_planted(kEvenJob + "    on rank=2\n      host 3ms\n");
  REQUIRE(culprit_of(late->analysis));
  CHECK(late->analysis.job->ranks[*culprit_of(late->analysis)].identity.rank == 2);
  const std::string html = render(ReportFormat::kHtml, late->trace, late->analysis, options);
  CHECK(html.find("<div class=\"card culprit\"><h3>The others wait for rank 2") !=
        std::string::npos);
  CHECK(html.find("class=\"culprit end\">▸ rank 2</text>") != std::string::npos);
  CHECK(html.find("<rect class=\"culprit\"") != std::string::npos);
  // Its row is the first of the table, and the only one that is marked.
  const std::size_t row = html.find("<tr class=\"marked\"><td class=\"n\">2</td>");
  REQUIRE(row != std::string::npos);
  CHECK(html.find("<tr class=\"marked\">", row + 1) == std::string::npos);
  CHECK(html.find("href=\"#ranks\"") != std::string::npos);
  const auto even = analyze_planted(kEvenJob);
  CHECK(!culprit_of(even->analysis));
  const std::string page = render(ReportFormat::kHtml, even->trace, even->analysis, options);
  CHECK(page.find("class=\"marked\"") == std::string::npos);
  CHECK(page.find("class=\"culprit") == std::string::npos);
  CHECK(page.find("id=\"ranks\"") != std::string::npos);
}

TEST_CASE("the page of 64 ranks and many steps stays below 2 MB") {
  std::string text = kEvenJob + "    on rank=2\n      host 3ms\n";
  text.replace(text.find("ranks 4"), 7, "ranks 64");
  text.replace(text.find("steps 12"), 8, "steps 180");
  const auto run = analyze_planted(text);
  const std::string html =
      render(ReportFormat::kHtml, run->trace, run->analysis, {.tool_version = "1"});
  CHECK(run->analysis.job->ranks.size() == 64);
  CHECK(html.size() < 2'000'000);
  CHECK(html.find("▸ rank 2</text>") != std::string::npos);
}

TEST_CASE("notes of a job's traces stand on its page with their rank") {
  const auto run = analyze_planted(kEvenJob);
  ReportOptions options{.tool_version = "1"};
  options.notes = {{.note = {{{1'000'000}, {3'000'000}}, "look"}, .rank = 3}};
  const std::string html = render(ReportFormat::kHtml, run->trace, run->analysis, options);
  CHECK(html.find("<th scope=\"col\" class=\"n\">Rank</th>") != std::string::npos);
  CHECK(html.find("<tr><td class=\"n\">3</td>") != std::string::npos);
  CHECK(html.find("2.00 ms</td><td>look") != std::string::npos);
}

TEST_CASE("a rank's own rows lead back to the whole trace, and its counters are its own, once") {
  trace::Trace trace = test::planted_trace(test::kEvenJob);
  std::vector<RankProcesses> ranks = ranks_in(trace, 0);
  REQUIRE(ranks.size() == 4);
  for (const RankProcesses& rank : ranks)
    trace.counters.push_back({"process.rss", "bytes", "", rank.main, {}, {{0}, {5}}, {1, 2}});
  for (const RankProcesses& rank : ranks) {
    const trace::Trace own = take_rank(trace, rank.main, ranks);
    CHECK(own.counters.size() == 1);
    CHECK(own.counters.at(0).process == rank.main);
    const trace::KeptRows kept = rows_of_rank(trace, rank.main, ranks);
    REQUIRE(kept.device_ops.size() == own.device_ops.size());
    for (std::uint32_t op = 0; op < own.device_ops.size(); ++op) {
      const EventRef whole = event_in_whole(kept, EventRef::of(trace::DeviceOpId{op}));
      CHECK(interval_of(trace, whole) == interval_of(own, EventRef::of(trace::DeviceOpId{op})));
    }
    CHECK(event_in_whole(kept, {EventRef::Kind::kRange, 1'000'000}).kind == EventRef::Kind::kNone);
  }
}

TEST_CASE("findings of a job say which rank they are about, and keep evidence of one clock") {
  const auto report = test::analyze_planted(test::kEvenJob + "    on rank=2\n      host 3ms\n");
  const JobAnalysis& job = *report->analysis.job;
  std::size_t named = 0;
  for (const Finding& finding : report->analysis.findings) {
    if (finding.rank < 0) continue;
    ++named;
    CHECK(std::any_of(job.ranks.begin(), job.ranks.end(),
                      [&](const RankSummary& rank) { return rank.identity.rank == finding.rank; }));
  }
  CHECK(named > 10);
  CHECK(test::finding(*report, "straggler").rank == 2);
}

}  // namespace headway::analyzer
