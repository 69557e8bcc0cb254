// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

TEST_CASE("module-load fires on loading inside steady steps") {
  TextRun run("thread main\n  steps 20\n" + healthy_step() +
              "    sync stream\n    on every=2\n      call cuModuleLoadDataEx 4ms\n");
  const Finding& finding = run.finding("module-load");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(2'000'000).epsilon(0.01));
  CHECK(finding.evidence.at(0).note.find("cuModuleLoadDataEx") != std::string::npos);
}

TEST_CASE("module-load believes the profiler's own rows and compilers' ranges") {
  TextRun overhead("thread main\n  steps 20\n" + healthy_step() +
                   "    sync stream\n    overhead module-load 2ms\n");
  CHECK(overhead.finding("module-load").status == Status::kFound);
  TextRun compiler(
      "thread main\n  steps 20\n" + healthy_step() +
      "    sync stream\n    range \"compile_fx_inner (dynamo_timed)\"\n      host 2ms\n");
  CHECK(compiler.finding("module-load").status == Status::kFound);
}

TEST_CASE("module-load is fine when loading is warm-up, hidden, or another overhead") {
  TextRun warm_up("thread main\n  steps 30\n    on to=1\n      call cuModuleLoadData 500ms\n" +
                  healthy_step());
  CHECK(warm_up.finding("module-load").status == Status::kFine);
  TextRun hidden("thread main\n  steps 20\n" + healthy_step() + "    call cuModuleLoadData 2ms\n");
  CHECK(hidden.finding("module-load").status == Status::kFine);
  TextRun profiler("thread main\n  steps 20\n" + healthy_step() +
                   "    sync stream\n    overhead profiler 2ms\n");
  CHECK(profiler.finding("module-load").status == Status::kFine);
}

TEST_CASE("module-load is fine just below five percent of the step and fires just above") {
  auto run = [](const char* time) {
    return TextRun(std::string("thread main\n  steps 20\n") + healthy_step() +
                   "    sync stream\n    call cuLibraryLoadData " + time + "\n");
  };
  CHECK(run("500us").finding("module-load").status == Status::kFine);
  CHECK(run("560us").finding("module-load").status == Status::kFound);
}

TEST_CASE("module-load cannot tell without steady work on a device") {
  TextRun run("thread main\n  steps 12\n    call cuModuleLoadData 1ms\n");
  CHECK(run.finding("module-load").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
