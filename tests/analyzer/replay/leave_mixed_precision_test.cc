// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "analyzer/whatif/fix.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// A cast, a product in FP16 and a cast back, ten times a step, on a T4: 65 TFLOP/s in FP16, 8.1 in FP32.
TextRun mixed(const std::string& product, bool casts = true) {
  const std::string cast =
      casts ? "      launch \"void "
              "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
              "TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul>, 4, "
              "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)\" "
              "4us call=12us blocks=1\n"
            : "";
  return TextRun(
      "device cuda \"Tesla T4\" sms=40 cc=7.5 memory=15GB bandwidth=320GB/s\n"
      "thread main\n  steps 20\n    repeat 10\n" +
      cast + "      launch turing_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn " + product + "\n" + cast +
      "    sync stream\n");
}

Proposal proposed(const Predictor& predictor) {
  return find_fix("leave-mixed-precision")->propose(predictor);
}

double gain_of(const TextRun& run) {
  const Predictor predictor(run.trace, run.analysis);
  const Proposal proposal = proposed(predictor);
  REQUIRE(proposal.applies);
  const Prediction prediction = predictor.predict(proposal.scenario);
  return ratio(prediction.gain, predictor.baseline().recorded);
}

}  // namespace

TEST_CASE("without casts a step of small products launches a third of its kernels") {
  const double share = gain_of(mixed("5us call=12us blocks=1 flops=100K bytes=10KB"));
  CHECK(share > 0.5);
  CHECK(share < 0.7);
}

TEST_CASE("large products take as much longer in 32 bits as the device is slower there") {
  const double share = gain_of(mixed("1ms call=12us blocks=4000 flops=40G bytes=10MB"));
  CHECK(share < -5);
  CHECK(share > -8);
}

TEST_CASE("what casts nothing keeps its types") {
  const TextRun run = mixed("1ms call=12us blocks=4000 flops=40G bytes=10MB", false);
  const Predictor predictor(run.trace, run.analysis);
  CHECK(!proposed(predictor).applies);
}

}  // namespace headway::analyzer
