// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::PlantedRun;

/// A run that waits for reads of `bytes` each, and one more read that shows what the storage can
/// do.
AnalyzedRun run_with_reads(std::int64_t bytes, std::int64_t large_bytes, std::int64_t large_time) {
  test::TraceBuilder builder;
  PlantedRun{.read = 600'000, .read_bytes = bytes}.build(builder);
  builder.range(3, "read", 1000, 1000 + large_time,
                {.kind = trace::RangeKind::kRead, .bytes = large_bytes});
  return AnalyzedRun(builder);
}

}  // namespace

TEST_CASE("small-files fires when small reads limit the input, and ranks after input-bound") {
  AnalyzedRun run(PlantedRun{.read = 600'000, .read_bytes = 800});
  const Finding& finding = run.finding("small-files");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 592'000);  // 800 bytes take 8 µs at 100 MB/s
  CHECK(run.analysis.findings[0].rule == "input-bound");
  CHECK(run.analysis.findings[1].rule == "small-files");
}

TEST_CASE("small-files believes the rate that large reads of the run reached") {
  // 60 kB in 600 µs is 100 MB/s; a read of 100 kB in 100 µs shows that 1 GB/s is possible.
  CHECK(AnalyzedRun(PlantedRun{.read = 600'000, .read_bytes = 60'000})
            .finding("small-files")
            .status == Status::kFine);
  CHECK(run_with_reads(60'000, 100'000, 100'000).finding("small-files").status == Status::kFound);
}

TEST_CASE("small-files is fine with large reads and without read waits") {
  CHECK(AnalyzedRun(PlantedRun{.read = 600'000, .read_bytes = 50'000'000})
            .finding("small-files")
            .status == Status::kFine);
  CHECK(AnalyzedRun(PlantedRun{}).finding("small-files").status == Status::kFine);
}

TEST_CASE("small-files starts below one megabyte") {
  // 10 ms for just under and just over 1 MB: 100 MB/s, so a faster large read must show the
  // difference.
  auto with = [](std::int64_t bytes) {
    test::TraceBuilder builder;
    PlantedRun{.read = 10'000'000, .read_bytes = bytes}.build(builder);
    builder.range(3, "read", 1000, 101'000, {.kind = trace::RangeKind::kRead, .bytes = 999'000});
    return AnalyzedRun(builder).finding("small-files").status;
  };
  CHECK(with(990'000) == Status::kFound);
  CHECK(with(1'010'000) == Status::kFine);
}

TEST_CASE("small-files cannot tell when the reads carry no sizes") {
  CHECK(AnalyzedRun(PlantedRun{.read = 600'000, .read_bytes = 0}).finding("small-files").status ==
        Status::kCannotTell);
}

TEST_CASE("small-files takes the sizes from calls on files when the ranges say none") {
  // Batches of 50 files of 8 KiB each; opening and reading take 10 us a file.
  auto with = [](std::int64_t bytes) {
    test::TraceBuilder builder;
    PlantedRun{.read = 600'000, .read_bytes = 0}.build(builder);
    for (int i = 0; i < 50; ++i) {
      std::int64_t at = 1'000'000 + i * 11'000;
      std::string path = "/data/" + std::to_string(i);
      builder.io(2, trace::IoOp::kOpen, path, at, at + 4000, 0);
      builder.io(2, trace::IoOp::kRead, path, at + 4000, at + 10'000, bytes);
      builder.io(1, trace::IoOp::kWrite, "/log", at, at + 100, 1'000'000'000);  // not a loader's
    }
    return AnalyzedRun(builder).finding("small-files");
  };
  Finding small = with(300);
  CHECK(small.status == Status::kFound);
  CHECK(small.claim.find("50 files bring 300 B each") != std::string::npos);
  CHECK(with(2'000'000).status == Status::kFine);
}

}  // namespace headway::analyzer
