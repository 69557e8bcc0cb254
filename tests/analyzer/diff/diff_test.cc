// SPDX-License-Identifier: MIT
#include "analyzer/diff/diff.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analyzer/diff/tables.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::PlantedRun;

Diff compare_runs(const AnalyzedRun& a, const AnalyzedRun& b) {
  DiffRun run_a{a.trace, a.analysis};
  DiffRun run_b{b.trace, b.analysis};
  return diff({&run_a, 1}, {&run_b, 1});
}

Diff compare_runs(const PlantedRun& a, const PlantedRun& b) {
  return compare_runs(AnalyzedRun(a), AnalyzedRun(b));
}

std::string rendered(DiffFormat format, const AnalyzedRun& a, const AnalyzedRun& b) {
  DiffRun run_a{a.trace, a.analysis};
  DiffRun run_b{b.trace, b.analysis};
  return render(format, diff({&run_a, 1}, {&run_b, 1}), {&run_a, 1}, {&run_b, 1});
}

const std::vector<Cell>* row_of(const Diff& d, std::string_view table, std::string_view name) {
  if (!d.table(table)) return nullptr;
  for (const auto& row : d.table(table)->rows) {
    if (std::get<std::string>(row[0]) == name) return &row;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a run without the waits is faster by what they cost") {
  Diff d = compare_runs(PlantedRun{.read = 1'050'000}, PlantedRun{});
  CHECK(d.verdict == DiffVerdict::kFaster);
  CHECK(d.step.change == doctest::Approx(-0.502).epsilon(0.01));
  CHECK(d.step.cliffs_delta == -1);
  CHECK(d.sentence.find("faster by 2.01×") != std::string::npos);
  bool listed = false;
  for (const std::string& change : d.findings)
    listed = listed || change.starts_with("input-bound: ");
  CHECK(listed);
}

TEST_CASE("the other way round it is slower, and equal runs are the same") {
  CHECK(compare_runs(PlantedRun{}, PlantedRun{.copy = 300'000}).verdict == DiffVerdict::kSlower);
  CHECK(compare_runs(PlantedRun{}, PlantedRun{}).verdict == DiffVerdict::kSame);
}

/// Steps of 607 µs, of which every 40th takes `longer`.
void paused(test::TraceBuilder& builder, std::int64_t longer, const char* batch = "32",
            const char* model = "resnet") {
  builder.setting("batch", batch);
  builder.setting("model", model);
  std::int64_t t = 1'000'000;
  for (int i = 0; i < 160; ++i) {
    const std::int64_t step = 607'000 + (i * 7919 % 13) * 100 + (i % 40 == 0 ? longer : 0);
    builder.range(1, "step", t, t + step, {.kind = trace::RangeKind::kStep, .step = i});
    builder.launch(1, t, t + 10'000, t + step - 500'000, t + step,
                   {.phase = trace::Phase::kUpdate});
    t += step;
  }
}

TEST_CASE("pauses that the typical step does not show decide the verdict") {
  test::TraceBuilder with;
  test::TraceBuilder without;
  paused(with, 198'000'000);
  paused(without, 0);
  AnalyzedRun a(with);
  AnalyzedRun b(without);
  Diff d = compare_runs(a, b);
  CHECK(d.verdict == DiffVerdict::kFaster);
  CHECK(d.typical_verdict == DiffVerdict::kSame);
  CHECK(d.step.a / d.step.b == doctest::Approx(7.2).epsilon(0.03));
  CHECK(d.slow_a.every == 40);
  CHECK(d.slow_a.count == 3);
  CHECK(d.slow_a.longer.milliseconds() == doctest::Approx(198).epsilon(0.01));
  CHECK(d.slow_b.count == 0);
  CHECK(*d.samples_per_s_b / *d.samples_per_s_a == doctest::Approx(d.step.a / d.step.b));
  Diff back = compare_runs(b, a);
  CHECK(back.verdict == DiffVerdict::kSlower);
  CHECK(back.typical_verdict == DiffVerdict::kSame);
  auto json = nlohmann::json::parse(rendered(DiffFormat::kJson, a, b));
  CHECK(json["typical_verdict"] == "same");
  CHECK(json["slow_steps_a"]["every"] == 40);
}

TEST_CASE("the smallest detectable change is never zero") {
  Diff d = compare_runs(PlantedRun{}, PlantedRun{});
  CHECK(d.verdict == DiffVerdict::kSame);
  CHECK(d.sentence.find(" 0.0 % or more") == std::string::npos);
  CHECK(d.sentence.find("1.0 % or more") != std::string::npos);
}

TEST_CASE("other programs are said before any verdict") {
  test::TraceBuilder one;
  test::TraceBuilder other;
  paused(one, 0, "32", "resnet");
  paused(other, 0, "64", "ssd");
  AnalyzedRun a(one);
  AnalyzedRun b(other);
  Diff d = compare_runs(a, b);
  REQUIRE(d.differences.size() == 2);
  CHECK(d.differences[0].what == "model");
  CHECK(d.differences[1].what == "batch");
  CHECK(d.differences[1].b == "64");
  CHECK(d.sentence.starts_with("Different programs (model resnet → ssd, batch 32 → 64)"));
  CHECK(d.doubts.size() >= 2);
  a.trace.world_size = 2;
  b.trace.world_size = 4;
  CHECK(compare_runs(a, b).differences[0].what == "ranks");
  CHECK(compare_runs(a, a).differences.empty());
}

TEST_CASE("few steps are inconclusive") {
  Diff d = compare_runs(PlantedRun{.steps = 3}, PlantedRun{.steps = 3, .read = 900'000});
  CHECK(d.verdict == DiffVerdict::kInconclusive);
  CHECK(d.sentence.find("too few") != std::string::npos);
}

TEST_CASE("kernels that came, went and grew are told with calls per step and mean duration") {
  Diff d = compare_runs(PlantedRun{.kernels = 10}, PlantedRun{.kernels = 12, .copy = 300'000});
  const std::vector<Cell>* copy = row_of(d, "kernels", "copy batch");
  REQUIRE(copy != nullptr);
  CHECK(std::get<std::string>(copy->back()) == "added");
  CHECK(std::get<std::int64_t>((*copy)[2]) == 300'000);
  const std::vector<Cell>* kernel = row_of(d, "kernels", "kernel");
  REQUIRE(kernel != nullptr);
  CHECK(std::get<std::int64_t>((*kernel)[3]) == 200'000);
  CHECK(std::get<double>((*kernel)[4]) == doctest::Approx(10));
  CHECK(std::get<double>((*kernel)[5]) == doctest::Approx(12));
  CHECK(std::get<std::int64_t>((*kernel)[6]) == 100'000);
  Diff back = compare_runs(PlantedRun{.copy = 300'000}, PlantedRun{});
  CHECK(std::get<std::string>(row_of(back, "kernels", "copy batch")->back()) == "removed");
}

TEST_CASE("other devices are said first, other kinds of devices are not judged") {
  AnalyzedRun a{PlantedRun{}};
  AnalyzedRun b{PlantedRun{.copy = 300'000}};
  b.trace.devices[0].name = "another";
  Diff d = compare_runs(a, b);
  REQUIRE(!d.doubts.empty());
  CHECK(d.doubts.front().find("another") != std::string::npos);
  CHECK(d.verdict == DiffVerdict::kSlower);
  b.trace.devices[0].type = trace::DeviceType::kCuda;
  CHECK(compare_runs(a, b).verdict == DiffVerdict::kInconclusive);
}

TEST_CASE("without steps the spans are compared, with a doubt and without a verdict") {
  auto build = [](std::int64_t kernel) {
    test::TraceBuilder builder;
    for (std::int64_t i = 0; i < 10; ++i)
      builder.launch(1, i * 1'000, i * 1'000 + 500, 20'000 + i * 200'000,
                     20'000 + i * 200'000 + kernel, {.name = "kernel"});
    return AnalyzedRun(builder);
  };
  AnalyzedRun a = build(50'000);
  AnalyzedRun b = build(150'000);
  Diff d = compare_runs(a, b);
  CHECK(d.verdict == DiffVerdict::kInconclusive);
  CHECK(d.sentence.find("no steps") != std::string::npos);
  CHECK(d.doubts.size() == 1);
  const std::vector<Cell>* compute = row_of(d, "device_view", "compute");
  REQUIRE(compute != nullptr);
  CHECK(std::get<std::int64_t>((*compute)[3]) == 1'000'000);
  CHECK(std::get<std::int64_t>((*row_of(d, "kernels", "kernel"))[3]) == 1'000'000);
}

TEST_CASE("people are shown what changed and told how much did not, while scripts get every row") {
  AnalyzedRun a(PlantedRun{.read = 400'000});
  AnalyzedRun b(PlantedRun{.copy = 200'000});
  const Diff d = compare_runs(a, b);
  const Table* kernels = d.table("kernels");
  REQUIRE(kernels != nullptr);
  const Table changed = changed_rows(*kernels);
  REQUIRE(!changed.rows.empty());
  REQUIRE(changed.rows.size() < kernels->rows.size());
  const std::size_t out = kernels->rows.size() - changed.rows.size();
  CHECK(changed.note.starts_with(fmt::format("{}; {} ", kernels->note, out)));
  for (std::size_t i = 0; i < kernels->rows.size(); ++i) {
    const bool zero = std::get<std::int64_t>(kernels->rows[i][3]) == 0 &&
                      std::get<std::string>(kernels->rows[i][8]).empty();
    CHECK(zero == (i >= changed.rows.size()));  // so that the places of rows hold
  }
  CHECK(rendered(DiffFormat::kText, a, b).find(changed.note) != std::string::npos);
  const auto json = nlohmann::json::parse(rendered(DiffFormat::kJson, a, b));
  CHECK(json["kernels"].size() == kernels->rows.size());
  const Diff same = compare_runs(a, a);
  CHECK(changed_rows(*same.table("kernels")).rows.empty());
  CHECK(changed_rows(*same.table("kernels")).note.ends_with(" changed"));
  const std::string text = rendered(DiffFormat::kText, a, a);
  CHECK(text.find(" changed)\n\n") != std::string::npos);  // no heading of columns over nothing
  CHECK(changed_rows(*same.table("steps")).rows.size() == same.table("steps")->rows.size());
}

TEST_CASE("the class table sums to the steps in every format, and the JSON is valid") {
  AnalyzedRun a(PlantedRun{.read = 400'000});
  AnalyzedRun b(PlantedRun{.copy = 200'000});
  Diff d = compare_runs(a, b);
  const Table* classes = d.table("classes");
  REQUIRE(classes != nullptr);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i + 1 < classes->rows.size(); ++i)
    sum += std::get<std::int64_t>(classes->rows[i][3]);
  CHECK(sum == std::get<std::int64_t>(classes->rows.back()[3]));
  auto json = nlohmann::json::parse(rendered(DiffFormat::kJson, a, b));
  CHECK(json["verdict"] == "faster");
  CHECK(json["kernels"].size() > 1);
  CHECK(rendered(DiffFormat::kMarkdown, a, b).find("**B is faster") != std::string::npos);
  std::string page = rendered(DiffFormat::kHtml, a, b);
  for (const char* outside : {"<script", "<link", "<img", "<iframe", "http://", "https://", "url(",
                              "@import", " src=", " href="}) {
    CAPTURE(outside);
    CHECK(page.find(outside) == std::string::npos);
  }
  CHECK(page.find("default-src 'none'") != std::string::npos);
  // The heading is the verdict alone; what it rests on stands below.
  const std::size_t verdict = page.find("<p class=\"verdict\">B is faster by ");
  REQUIRE(verdict != std::string::npos);
  CHECK(page.find("</p>", verdict) - verdict < 100);
  CHECK(page.find("<p class=\"figures\">") > verdict);
  CHECK(page.ends_with("</html>\n"));
}

TEST_CASE("names from the recording are inert in every format of a diff") {
  auto build = [](std::int64_t kernel) {
    test::TraceBuilder builder;
    builder.launch(1, 0, 500, 20'000, 20'000 + kernel, {.name = "<b>k\x1b[31m</b>"});
    return AnalyzedRun(builder);
  };
  AnalyzedRun a = build(50'000);
  AnalyzedRun b = build(150'000);
  CHECK(rendered(DiffFormat::kText, a, b).find('\x1b') == std::string::npos);
  CHECK(rendered(DiffFormat::kHtml, a, b).find("<b>k") == std::string::npos);
  CHECK(rendered(DiffFormat::kMarkdown, a, b).find("<b>k") == std::string::npos);
}

}  // namespace headway::analyzer
