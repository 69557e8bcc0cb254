// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

namespace {

/// Kernels with `blocks` blocks on 100 multiprocessors, `used` of 80 GB.
TextRun small_kernels(int blocks, const std::string& used) {
  return TextRun(
      "device cuda gpu sms=100 memory=80GB\n" +
      (used.empty() ? used : "counter gpu.memory_used " + used + " device=0\n") +
      "thread main\n  steps 12\n    repeat 20\n      host 4us\n      launch k 500us blocks=" +
      std::to_string(blocks) + "\n");
}

}  // namespace

TEST_CASE("memory-headroom fires on small kernels with most of the memory free") {
  TextRun run = small_kernels(25, "8GB");
  const Finding& finding = run.finding("memory-headroom");
  REQUIRE(finding.status == Status::kFound);
  // Memory has room for nine times the batch; 25 blocks fill the device at four times that.
  CHECK(finding.share_of_step == doctest::Approx(0.75).epsilon(0.01));
  CHECK(!finding.evidence.empty());
}

TEST_CASE("memory-headroom fires on launch gaps") {
  TextRun run(
      "device cuda gpu sms=100 memory=80GB\ncounter gpu.memory_used 20GB device=0\n"
      "thread main\n  steps 12\n    repeat 50\n      host 40us\n      launch k 20us blocks=864\n");
  CHECK(run.finding("memory-headroom").status == Status::kFound);
}

TEST_CASE("memory-headroom needs room for twice the batch") {
  CHECK(small_kernels(25, "35GB").finding("memory-headroom").status == Status::kFound);
  CHECK(small_kernels(25, "37GB").finding("memory-headroom").status == Status::kFine);
}

TEST_CASE("memory-headroom is fine when the kernels fill the device") {
  CHECK(small_kernels(100, "8GB").finding("memory-headroom").status == Status::kFine);
  CHECK(small_kernels(97, "8GB").finding("memory-headroom").status == Status::kFine);
}

TEST_CASE("memory-headroom cannot tell without the memory in use") {
  TextRun run = small_kernels(25, "");
  CHECK(run.finding("memory-headroom").status == Status::kCannotTell);
  CHECK(run.finding("memory-headroom").claim.find("gpu.memory_used") != std::string::npos);
}

}  // namespace headway::analyzer
