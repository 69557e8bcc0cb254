// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/kernel_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedKernels;
using test::KernelRun;

constexpr const char* kCell = "void elemWiseRNNcell<float, float, float, (cudnnRNNMode_t)2>(x)";
constexpr const char* kGemm = "volta_sgemm_32x32_sliced1x4_tn";
constexpr const char* kBig = "volta_sgemm_128x128_tn";

Finding find(const KernelRun& run) {
  return AnalyzedKernels(run).finding("rnn-not-persistent");
}

KernelRun layer(int time_steps, std::int64_t gemm = 15'000, std::int64_t rest = 500'000) {
  KernelRun run;
  run.add({.name = kBig, .ns = rest});
  for (int i = 0; i < time_steps; ++i)
    run.add({.name = kGemm, .ns = gemm}).add({.name = kCell, .ns = 5'000});
  return run;
}

}  // namespace

TEST_CASE("rnn-not-persistent fires on cells between small GEMMs and promises half") {
  Finding finding = find(layer(50));
  CHECK(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step.ns == 50 * 20'000 / 2);
  CHECK(finding.claim.find("50 recurrent cells") != std::string::npos);
}

TEST_CASE("rnn-not-persistent is fine with a persistent kernel, and without recurrent layers") {
  CHECK(find(KernelRun{}.add({.name = "RNN_blockPersist_fp_LSTM_HMMA"}, 30)).status ==
        Status::kFine);
  CHECK(find(KernelRun{}.add({.name = kGemm}, 40)).status == Status::kFine);
}

TEST_CASE("rnn-not-persistent is fine where the GEMM of a time step is large") {
  CHECK(find(layer(50, 150'000)).status == Status::kFine);
}

TEST_CASE("rnn-not-persistent needs sixteen cells and five percent of the step") {
  CHECK(find(layer(15)).status == Status::kFine);
  CHECK(find(layer(16)).status == Status::kFound);
  CHECK(find(layer(16, 15'000, 5'000'000)).status == Status::kFine);
}

TEST_CASE("rnn-not-persistent cannot tell when kernel names say nothing") {
  CHECK(find(KernelRun{}.add({.name = "k1"}, 40)).status == Status::kCannotTell);
}

}  // namespace headway::analyzer
