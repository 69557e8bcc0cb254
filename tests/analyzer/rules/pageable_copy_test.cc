// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

TEST_CASE("pageable-copy fires and says what pinned memory would save") {
  TextRun run("thread main\n  steps 12\n    copy h2d 30MB memory=pageable rate=6GB/s\n" +
              healthy_step() + "    sync stream\n");
  const Finding& finding = run.finding("pageable-copy");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "pageable");
  // 5 ms at 6 of the 25 GB/s that PCIe 4.0 gives an A100.
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(3'800'000).epsilon(0.01));
  CHECK(finding.evidence.at(0).note.find("30.0 MB") != std::string::npos);
}

TEST_CASE("pageable-copy compares with the pinned copies of the same trace") {
  TextRun run(
      "thread main\n  steps 12\n    copy h2d 24MB rate=24GB/s stream=copy\n"
      "    copy h2d 30MB memory=pageable rate=6GB/s\n" +
      healthy_step() + "    sync stream\n");
  // 5 ms at a quarter of 24 GB/s; the first millisecond runs beside the pinned copy.
  CHECK(run.finding("pageable-copy").recoverable_per_step.ns ==
        doctest::Approx(3'750'000).epsilon(0.25));
  CHECK(run.finding("pageable-copy").claim.find("24.0 GB/s") != std::string::npos);
}

TEST_CASE("pageable-copy is fine with pinned memory, and with pageable copies of a few bytes") {
  TextRun pinned("thread main\n  steps 12\n    copy h2d 100MB\n" + healthy_step());
  CHECK(pinned.finding("pageable-copy").status == Status::kFine);
  TextRun loss("thread main\n  steps 12\n" + healthy_step() +
               "    copy d2h 4B memory=pageable\n    sync stream\n");
  CHECK(loss.finding("pageable-copy").status == Status::kFine);
}

TEST_CASE("pageable-copy is fine just below five percent of the step and fires just above") {
  auto run = [](const char* size) {
    return TextRun(std::string("thread main\n  steps 12\n    copy h2d ") + size +
                   " memory=pageable rate=6GB/s\n" + healthy_step() + "    sync stream\n");
  };
  // 76 % of the copy is recoverable: 5 % of 11 ms is a copy of 0.72 ms.
  CHECK(run("3.9MB").finding("pageable-copy").status == Status::kFine);
  CHECK(run("4.8MB").finding("pageable-copy").status == Status::kFound);
}

TEST_CASE("pageable-copy suspects slow copies of unknown memory, and cannot tell of fast ones") {
  TextRun slow("thread main\n  steps 12\n    copy h2d 20MB memory=unknown rate=2GB/s\n" +
               healthy_step());
  CHECK(slow.finding("pageable-copy").sub_cause == "slow");
  CHECK(slow.finding("pageable-copy").confidence == doctest::Approx(0.5));
  TextRun fast("thread main\n  steps 12\n    copy h2d 100MB memory=unknown rate=20GB/s\n" +
               healthy_step());
  CHECK(fast.finding("pageable-copy").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
