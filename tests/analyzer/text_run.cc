// SPDX-License-Identifier: MIT
#include "tests/analyzer/text_run.h"

#include <fmt/format.h>

#include <stdexcept>

#include "tests/planted/dsl/assemble.h"

namespace headway::test {

TextRun::TextRun(const std::string& program)
    : trace(planted::make_trace(
          planted::parse_case("run.txt", "plants: a run\nexpect: nothing\njitter 0%\n" + program))),
      analysis(analyzer::analyze(trace)) {}

const analyzer::Finding& TextRun::finding(std::string_view rule) const {
  for (const analyzer::Finding& finding : analysis.findings) {
    if (finding.rule == rule) return finding;
  }
  throw std::runtime_error("no such rule: " + std::string(rule));
}

std::string healthy_step(int kernels, int us) {
  return fmt::format(
      "    repeat {}\n"
      "      host 4us\n"
      "      launch s16816gemm {}us math=tensor blocks=864\n"
      "    launch adam 100us blocks=320 phase=update\n",
      kernels, us);
}

}  // namespace headway::test
