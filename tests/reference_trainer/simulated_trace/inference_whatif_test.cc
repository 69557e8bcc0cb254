// SPDX-License-Identifier: MIT
// What narrower numbers gain inference, predicted from one simulated run and done in another.
#include <doctest/doctest.h>

#include "analyzer/kernels/families.h"
#include "analyzer/whatif/predict_findings.h"
#include "tests/reference_trainer/simulated_trace/predicted.h"

namespace headway::trainer {
namespace {

using test::mean_step_ns;
using test::Predicted;
using test::Switches;
using test::with;

const Switches kServed = {{"device", "sim"},    {"mode", "infer"}, {"eval", "off"},
                          {"augment", "off"},   {"workers", "64"}, {"host_cores", "128"},
                          {"source", "memory"}, {"prefetch", "64"}};
const Switches kImagesServed = with(kServed, {{"depth", "20"}, {"width", "64"}, {"batch", "256"}});
const Switches kTextServed = with(kServed, {{"model", "transformer"},
                                            {"layers", "4"},
                                            {"features", "768"},
                                            {"heads", "12"},
                                            {"sequence", "128"},
                                            {"batch", "32"}});
const Switches kUnfused = {{"fold_bn", "off"},        {"fused_epilogue", "off"},
                           {"fused_bn", "off"},       {"fused_bias_act", "off"},
                           {"graph_compiler", "off"}, {"fused_loss", "off"}};

void check_narrowed(const Switches& run, std::string_view fix, const char* precision,
                    double within) {
  const Predicted before(run);
  const double now = mean_step_ns(run);
  const double done = mean_step_ns(run, {{"infer_precision", precision}});
  CAPTURE(now);
  CHECK(done < 0.9 * now);
  CHECK(before.analysis.program.is_inference());
  // Of the recorded step: what is left may be a small part of it.
  CHECK(before.step_ns(fix) / now == doctest::Approx(done / now).epsilon(within));
}

}  // namespace

TEST_CASE("products in 16 bits gain inference what is predicted") {
  SUBCASE("convolutions on a T4") {
    check_narrowed(with(kImagesServed, {{"gpu", "t4"}}), "infer-in-16-bits", "fp16", 0.03);
  }
  SUBCASE("a transformer in TF32 on an A100") {
    check_narrowed(with(kTextServed, {{"gpu", "a100"}, {"infer_precision", "tf32"}}),
                   "infer-in-16-bits", "bf16", 0.1);
  }
}

TEST_CASE("integers of 8 bits gain inference what is predicted") {
  SUBCASE("convolutions in FP32 on a T4") {
    check_narrowed(with(kImagesServed, {{"gpu", "t4"}}), "infer-in-int8", "int8", 0.05);
  }
  SUBCASE("convolutions in FP16 on an H200") {
    check_narrowed(with(kImagesServed, {{"gpu", "h200"}, {"infer_precision", "fp16"}}),
                   "infer-in-int8", "int8", 0.05);
  }
  SUBCASE("a transformer in FP16 on an A100") {
    check_narrowed(with(kTextServed, {{"gpu", "a100"}, {"infer_precision", "fp16"}}),
                   "infer-in-int8", "int8", 0.1);
  }
}

TEST_CASE("norms and sums between convolutions go into them") {
  const Switches run = with(with(kImagesServed, {{"gpu", "t4"}}), kUnfused);
  const Predicted before(run);
  const double done = mean_step_ns(run, {{"fold_bn", "on"}, {"fused_epilogue", "on"}});
  CHECK(done < 0.95 * mean_step_ns(run));
  CHECK(before.step_ns("inference-engine") == doctest::Approx(done).epsilon(0.03));
  CHECK_FALSE(Predicted(with(kImagesServed, {{"gpu", "t4"}})).applies("inference-engine"));
}

TEST_CASE("a T4 infers ResNet-50 in INT8 about eleven times as fast as in FP32, as is published") {
  const Switches run = with(kServed, {{"gpu", "t4"},
                                      {"depth", "50"},
                                      {"batch", "128"},
                                      {"data", "generated-pictures"},
                                      {"image_size", "224"}});
  const double fp32 = mean_step_ns(run);
  CHECK(fp32 / mean_step_ns(run, {{"infer_precision", "int8"}}) > 9.9);
  CHECK(fp32 / mean_step_ns(run, {{"infer_precision", "int8"}}) < 12.1);
  CHECK(mean_step_ns(run, kUnfused) / fp32 > 1.2);
}

TEST_CASE("products of integers have the libraries' names on every generation that has them") {
  for (const char* gpu : {"t4", "a100", "l4", "h200", "b200"}) {
    for (const char* model : {"resnet", "transformer"}) {
      CAPTURE(std::string(gpu));
      const auto simulated = test::simulate(
          with(kServed, {{"gpu", gpu}, {"model", model}, {"infer_precision", "int8"}}), 2);
      const sim::Recording& recording = simulated.run.recordings[0];
      int products = 0;
      for (const sim::Op& op : recording.ops) {
        if (op.op < 0 || op.kind != sim::DeviceOpKind::kKernel) continue;
        const std::string_view type = recording.graph[static_cast<std::size_t>(op.op)].type;
        const analyzer::KernelTraits traits = analyzer::classify_kernel(op.name->text);
        CAPTURE(op.name->text);
        if (type == "quantise") CHECK(traits.family == analyzer::KernelFamily::kCast);
        if (traits.precision != analyzer::Precision::kInt8) continue;
        ++products;
        CHECK(traits.family == (type == "conv2d_fused" ? analyzer::KernelFamily::kConvolution
                                                       : analyzer::KernelFamily::kGemm));
        CHECK(traits.math_unit == op.unit);
      }
      CHECK(products > 10);
    }
  }
}

TEST_CASE("a GPU whose matrix units take no integers is not told to use them") {
  CHECK_FALSE(Predicted(with(kImagesServed, {{"gpu", "v100"}})).applies("infer-in-int8"));
  CHECK(Predicted(with(kImagesServed, {{"gpu", "v100"}})).applies("infer-in-16-bits"));
}

TEST_CASE("inference gets no advice for training, and training none for inference") {
  Predicted inference(with(kImagesServed, {{"gpu", "t4"}}));
  analyzer::predict_findings(inference.trace, inference.analysis, {}, nullptr);
  for (const analyzer::Finding& finding : inference.analysis.findings)
    for (const analyzer::Advice& advice : finding.advice)
      for (const char* of_training : {"--precision", "--batch", "--optimizer", "GradScaler"}) {
        CAPTURE(finding.rule);
        CHECK(advice.knob.find(of_training) == std::string::npos);
      }
  CHECK_FALSE(inference.applies("half-precision"));
  CHECK(inference.analysis.findings.front().rule == "inference-precision");
  const Predicted training(with(test::kImages, {{"gpu", "t4"}, {"batch", "256"}, {"width", "64"}}));
  CHECK_FALSE(training.applies("infer-in-int8"));
  CHECK_FALSE(training.applies("infer-in-16-bits"));
  CHECK_FALSE(training.applies("inference-engine"));
}

TEST_CASE(
    "keys and values that are kept gain no more than predicted, and that is most of the step") {
  const Switches run = with(kServed, {{"model", "transformer"},
                                      {"layers", "6"},
                                      {"features", "1024"},
                                      {"heads", "16"},
                                      {"sequence", "384"},
                                      {"generate", "320"},
                                      {"batch", "8"},
                                      {"infer_precision", "bf16"},
                                      {"kv_cache", "off"}});
  const Predicted before(run, 320);
  CHECK(before.analysis.program.is_inference());
  CHECK_FALSE(before.applies("steps-as-at-first"));
  const double now = mean_step_ns(run, {}, 320);
  const double done = mean_step_ns(run, {{"kv_cache", "on"}}, 320);
  const double ceiling = before.step_ns("keep-keys-and-values");
  CHECK(done < 0.6 * now);
  CHECK(ceiling <= 1.02 * done);
  CHECK(ceiling > 0.4 * done);
  const Switches kept = with(run, {{"kv_cache", "on"}});
  CHECK_FALSE(Predicted(kept, 320).applies("keep-keys-and-values"));
}

TEST_CASE("launches of tokens gain as one graph what is predicted") {
  const Switches run = with(kServed, {{"model", "transformer"},
                                      {"layers", "6"},
                                      {"features", "1024"},
                                      {"heads", "16"},
                                      {"sequence", "512"},
                                      {"generate", "384"},
                                      {"batch", "4"},
                                      {"infer_precision", "bf16"},
                                      {"launch_us", "5"}});
  const double now = mean_step_ns(run);
  const double done = mean_step_ns(run, {{"cuda_graph", "on"}});
  CHECK(done < 0.8 * now);
  CHECK(Predicted(run).step_ns("cuda-graph") == doctest::Approx(done).epsilon(0.08));
}

}  // namespace headway::trainer
