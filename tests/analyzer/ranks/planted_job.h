// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "analyzer/job/analyze_job.h"
#include "tests/planted/dsl/assemble.h"
#include "tests/planted/dsl/case.h"

namespace headway::test {

inline trace::Trace planted_trace(const std::string& text) {
  return planted::make_trace(planted::parse_case("test", text));
}

/// The job of a text in the planted cases' language.
inline std::unique_ptr<analyzer::JobReport> analyze_planted(const std::string& text) {
  return analyzer::analyze_ranks(planted_trace(text));
}

inline const analyzer::Finding& finding(const analyzer::JobReport& report, std::string_view rule) {
  for (const analyzer::Finding& finding : report.analysis.findings) {
    if (finding.rule == rule) return finding;
  }
  throw std::runtime_error("no such rule: " + std::string(rule));
}

/// Four ranks that take the same time; lines of a step may be appended.
inline const std::string kEvenJob =
    "plants: nothing\n"
    "expect: nothing\n"
    "jitter 0%\n"
    "ranks 4\n"
    "thread main\n"
    "  steps 12\n"
    "    range forward phase=forward\n"
    "      repeat 4\n"
    "        launch fwd 1ms blocks=800 bytes=8MB phase=forward\n"
    "    range backward phase=backward\n"
    "      repeat 8\n"
    "        launch bwd 1ms blocks=800 bytes=8MB phase=backward\n"
    "      record gradients\n"
    "      await gradients stream=comm\n"
    "      collective allreduce 50MB 400us communicator=dp\n"
    "      record reduced stream=comm\n"
    "      await reduced\n"
    "    range update phase=update\n"
    "      launch sgd 300us bytes=100MB phase=update\n"
    "    sync stream\n";

}  // namespace headway::test
