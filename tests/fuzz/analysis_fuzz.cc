// SPDX-License-Identifier: MIT
// Any bytes the whole way from a file to the finished reports in every format, or
// Error(kBadInput).
#include "analyzer/analysis.h"
#include "analyzer/report/report.h"
#include "common/error.h"
#include "tests/fuzz/target.h"
#include "trace/load/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headway;
  trace::LoadOptions options;
  options.threads = 1;
  try {
    trace::Trace trace = trace::load(test::file_of(data, size), options);
    analyzer::Analysis analysis = analyzer::analyze(trace);
    for (const std::string& name : analyzer::report_format_names()) {
      if (render(*analyzer::report_format(name), trace, analysis, {}).empty()) std::abort();
    }
    ++test::accepted;
  } catch (const Error& error) {
    if (error.code() != ExitCode::kBadInput) std::abort();
  }
  return 0;
}
