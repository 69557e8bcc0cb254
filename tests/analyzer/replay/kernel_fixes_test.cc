// SPDX-License-Identifier: MIT
// Several kernels that become one: recurrent layers, attention.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/kernel_rates.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using trace::Phase;

struct Kernel {
  std::string name;
  std::int64_t ns = 100'000;
  Phase phase = Phase::kNone;
  std::int64_t op = -1;
};

/// The kernels of a step, one after the other on a stream: the host launches all of them and waits.
struct Kernels {
  std::vector<Kernel> all;
  Kernels& add(const Kernel& one, int times = 1) {
    all.insert(all.end(), static_cast<std::size_t>(times), one);
    return *this;
  }
  trace::Trace record(test::TraceBuilder& builder) const {
    std::int64_t now = 0;
    for (int s = 0; s < 24; ++s) {
      const std::int64_t begin = now;
      std::int64_t call = begin;
      for (const Kernel& one : all) {
        builder.launch(1, call, call + 100, now + 5'000, now + 5'000 + one.ns,
                       {.name = one.name, .phase = one.phase, .op = one.op});
        call += 100;
        now += one.ns;
      }
      now += 10'000;
      builder.call(1, trace::DeviceCallKind::kStreamSynchronize, call, now);
      builder.range(1, "step", begin, now, {.kind = trace::RangeKind::kStep, .step = s});
    }
    return builder.load();
  }
};

constexpr const char* kCell = "void elemWiseRNNcell<float, float, float, (cudnnRNNMode_t)2>(x)";
constexpr const char* kGemm = "volta_sgemm_32x32_sliced1x4_tn";
constexpr const char* kScale =
    "void at::native::vectorized_elementwise_kernel<4, "
    "at::native::BUnaryFunctor<at::native::binary_internal::MulFunctor<float>>>(int)";
constexpr const char* kMask =
    "void at::native::vectorized_elementwise_kernel<4, at::native::masked_fill_kernel(x)>(int)";
constexpr const char* kSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float>(x)";
constexpr const char* kSoftmaxBackward =
    "void (anonymous namespace)::softmax_warp_backward<float, float>(x)";
constexpr const char* kNorm =
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel(x)";

struct Asked {
  Asked(const Kernels& kernels, std::string_view fix) : trace(kernels.record(builder)) { ask(fix); }
  Asked(test::TraceBuilder& its, const Kernels& kernels, std::string_view fix)
      : trace(kernels.record(its)) {
    for (trace::Device& device : trace.devices) device.memory_bytes_per_second = 2'000'000'000'000;
    ask(fix);
  }
  void ask(std::string_view fix) {
    analysis = analyze(trace);
    predictor.emplace(trace, analysis);
    REQUIRE(predictor->missing().empty());
    proposal = find_fix(fix)->propose(*predictor);
  }
  double gain_us() const {
    CAPTURE(proposal.text);
    REQUIRE(proposal.applies);
    return static_cast<double>(predictor->predict(proposal.scenario).gain.ns) / 1e3;
  }
  test::TraceBuilder builder;
  trace::Trace trace;
  Analysis analysis;
  std::optional<Predictor> predictor;
  Proposal proposal;
};

/// A large product, then so many time steps of a product of 15 µs and a cell of 5 µs.
Kernels layer(int time_steps) {
  Kernels run;
  run.add({.name = kGemm, .ns = 500'000});
  for (int i = 0; i < time_steps; ++i)
    run.add({.name = kGemm, .ns = 15'000}).add({.name = kCell, .ns = 5'000});
  return run;
}

Kernels attention(const char* between, Phase phase = Phase::kNone) {
  Kernels run;
  for (int i = 0; i < 4; ++i) {
    run.add({.name = kGemm, .ns = 100'000, .phase = phase})
        .add({.name = between, .ns = 20'000, .phase = phase})
        .add({.name = kSoftmax, .ns = 30'000, .phase = phase})
        .add({.name = kGemm, .ns = 100'000, .phase = phase})
        .add({.name = kNorm, .phase = phase});
  }
  return run;
}

}  // namespace

TEST_CASE(
    "without layout changes of images the step is shorter by them, and by no other transpose") {
  const Kernel convolution{.name = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc"};
  const Kernel change{.name = "void cudnn::ops::nchwToNhwcKernel<__half, __half, float>(x)",
                      .ns = 30'000};
  const Kernel copy{.name =
                        "void at::native::elementwise_kernel<128, 4, "
                        "at::native::gpu_kernel_impl_nocast<"
                        "at::native::direct_copy_kernel_cuda(x)>>(int)",
                    .ns = 40'000};
  Kernels run;
  run.add(change).add(convolution).add({.name = kGemm}).add(copy).add({.name = kGemm});
  CHECK(Asked(run, "no-layout-changes").gain_us() == doctest::Approx(30).epsilon(0.01));
  Kernels beside;
  beside.add(copy).add(convolution).add({.name = kGemm});
  CHECK(Asked(beside, "no-layout-changes").gain_us() == doctest::Approx(40).epsilon(0.01));
}

TEST_CASE("without convolutions no transpose is a layout change of images") {
  Kernels run;
  run.add({.name = kGemm}).add({.name = "sim::split_heads"}).add({.name = kGemm});
  const Asked asked(run, "no-layout-changes");
  CHECK_FALSE(asked.proposal.applies);
  CHECK(asked.proposal.text == "no convolution kernel ran");
}

TEST_CASE(
    "a recurrent layer becomes one kernel that takes what its time steps take beyond their start") {
  const Asked asked(layer(50), "persistent-rnn");
  CHECK(asked.proposal.text.find("of 100 kernels") != std::string::npos);
  // 50 · (15 + 5) µs become 5 + 50 · 10 µs.
  CHECK(asked.gain_us() == doctest::Approx(1000 - 505).epsilon(0.01));
}

TEST_CASE("a recurrent layer stays as it is where it is persistent, or has hardly a time step") {
  CHECK(!Asked(Kernels{}.add({.name = "RNN_blockPersist_fp_LSTM_HMMA"}, 30), "persistent-rnn")
             .proposal.applies);
  CHECK(!Asked(Kernels{}.add({.name = kGemm}, 30), "persistent-rnn").proposal.applies);
  CHECK(!Asked(layer(3), "persistent-rnn").proposal.applies);
}

TEST_CASE(
    "attention becomes one kernel that takes what its products take, or half of that under a "
    "mask") {
  // Of 250 µs each remain 5 + 2 · 95 µs.
  CHECK(Asked(attention(kScale), "fused-attention").gain_us() ==
        doctest::Approx(4 * 55).epsilon(0.01));
  const Asked masked(attention(kMask), "fused-attention");
  CHECK(masked.proposal.text.find("causal") != std::string::npos);
  CHECK(masked.gain_us() == doctest::Approx(4 * 150).epsilon(0.01));
}

TEST_CASE("attention's backward pass has four products, and fused one more") {
  Kernels run;
  run.add({.name = kNorm, .ns = 20'000, .phase = Phase::kBackward})
      .add({.name = kGemm, .ns = 100'000, .phase = Phase::kBackward}, 2)
      .add({.name = kSoftmaxBackward, .ns = 300'000, .phase = Phase::kBackward})
      .add({.name = kGemm, .ns = 100'000, .phase = Phase::kBackward}, 2)
      .add({.name = kNorm, .phase = Phase::kBackward});
  // Of 700 µs remain 5 + 4 · 95 · 5/4 µs.
  CHECK(Asked(run, "fused-attention").gain_us() == doctest::Approx(220).epsilon(0.01));
}

TEST_CASE("attention stays as it is where it is fused, or softmax stands elsewhere") {
  CHECK(
      !Asked(
           Kernels{}.add({.name = kGemm}).add({.name = "void pytorch_flash::flash_fwd_kernel<x>"}),
           "fused-attention")
           .proposal.applies);
  CHECK(!Asked(Kernels{}.add({.name = kGemm}).add({.name = kSoftmax}).add({.name = kNorm}),
               "fused-attention")
             .proposal.applies);
}

TEST_CASE(
    "a fused attention of little arithmetic takes what its inputs and result need, by the op "
    "graph") {
  test::TraceBuilder builder;
  constexpr std::int64_t kTensor = 100'000'000;  // at 85 % of 2 TB/s 59 µs
  builder.graph_op(1, "linear", "qkv", Phase::kForward, {0}, 0, kTensor);
  builder.graph_op(2, "batched_matmul", "scores", Phase::kForward, {1}, 0, 10 * kTensor);
  builder.graph_op(3, "softmax", "softmax", Phase::kForward, {2}, 0, 10 * kTensor);
  builder.graph_op(4, "batched_matmul", "values", Phase::kForward, {3, 1}, 0, kTensor);
  builder.graph_op(5, "linear", "out", Phase::kForward, {4}, 0, kTensor);
  Kernels kernels;
  kernels.add({"linear qkv", 10'000, Phase::kForward, 1})
      .add({"batched_matmul scores", 30'000, Phase::kForward, 2})
      .add({"softmax softmax", 600'000, Phase::kForward, 3})
      .add({"batched_matmul values", 30'000, Phase::kForward, 4})
      .add({"linear out", 10'000, Phase::kForward, 5});
  const Asked asked(builder, kernels, "fused-attention");
  CHECK(memory_bytes_per_ns(*asked.predictor, trace::DeviceId{0}) == doctest::Approx(1700));
  // 660 µs become the shortest kernel's 10 and 200 MB: the projection read once, the result written.
  CHECK(asked.gain_us() == doctest::Approx(660 - 10 - 118).epsilon(0.01));
}

}  // namespace headway::analyzer
