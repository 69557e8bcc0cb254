// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

namespace {

unsigned chosen = 0;

/// Counts the test cases that the filters of the command line chose.
struct Chosen : doctest::IReporter {
  explicit Chosen(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    chosen = stats.numTestCasesPassingFilters;
  }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

REGISTER_LISTENER("chosen", 1, Chosen);

int main(int argc, char** argv) {
  // Recorded losses are those of one order of additions: with wider vectors oneDNN adds up otherwise, and
  // after some steps a training run is another one.
  ::setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 0);
  doctest::Context context(argc, argv);
  int status = context.run();
  if (context.shouldExit()) return status;  // --help, --list-test-cases
  // A filter that chooses nothing would pass: ctest asks for tests by name, and a name with a
  // semicolon reaches us cut.
  if (status == 0 && chosen == 0) {
    std::fprintf(stderr, "no test case was chosen\n");
    return 1;
  }
  return status;
}
