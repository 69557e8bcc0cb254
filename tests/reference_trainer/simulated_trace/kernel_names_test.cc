// SPDX-License-Identifier: MIT
// Kernels of a simulated GPU carry the names that libraries give theirs, and the analyzer reads them as what they are.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "analyzer/kernels/families.h"
#include "tests/reference_trainer/simulated_trace/simulate.h"

namespace headway::trainer {
namespace {

using analyzer::ConvPass;
using analyzer::KernelFamily;
using analyzer::KernelTraits;
using analyzer::Precision;
using test::simulate;

const std::map<std::string_view, Precision> kOperands = {{"fp32", Precision::kFp32},
                                                         {"tf32", Precision::kTf32},
                                                         {"amp-o2", Precision::kFp16},
                                                         {"bf16", Precision::kBf16}};

KernelFamily family_of(std::string_view type) {
  if (type.starts_with("conv2d")) return KernelFamily::kConvolution;
  if (type.starts_with("attention") && type != "attention_mask") return KernelFamily::kAttention;
  const bool product =
      type.starts_with("linear") || type.starts_with("matmul") || type == "batched_matmul";
  return product ? KernelFamily::kGemm : KernelFamily::kUnknown;
}

ConvPass pass_of(std::string_view type) {
  return type == "conv2d_backward_data"      ? ConvPass::kDataGradient
         : type == "conv2d_backward_weights" ? ConvPass::kWeightGradient
                                             : ConvPass::kForward;
}

/// Of all products of a run; returns how many there are.
int check_names(const char* gpu, const char* model, const char* precision) {
  const test::Switches run = {{"gpu", gpu},          {"model", model},     {"precision", precision},
                              {"data", "generated"}, {"batch", "8"},       {"depth", "8"},
                              {"features", "64"},    {"sequence", "32"},   {"layers", "1"},
                              {"samples", "500"},    {"launch_us", "0.5"}, {"eval", "off"}};
  const auto simulated = simulate(run, 2);
  const sim::Recording& recording = simulated.run.recordings[0];
  const bool none = std::string_view(gpu) == "v100" || std::string_view(gpu) == "t4";
  int products = 0;
  for (const sim::Op& op : recording.ops) {
    if (op.op < 0 || op.kind != sim::DeviceOpKind::kKernel) continue;
    const std::string_view type = recording.graph[static_cast<std::size_t>(op.op)].type;
    const KernelFamily family = family_of(type);
    if (family == KernelFamily::kUnknown) continue;
    ++products;
    const std::string& name = op.name->text;
    CAPTURE(name);
    const KernelTraits traits = analyzer::classify_kernel(name);
    CHECK(traits.family == family);
    if (family == KernelFamily::kConvolution) CHECK(traits.pass == pass_of(type));
    // CUTLASS's attention says FP32 of what it multiplies in TF32.
    if (family == KernelFamily::kAttention) continue;
    const bool as_fp32 = none && std::string_view(precision) == "tf32";
    CHECK(traits.precision == (as_fp32 ? Precision::kFp32 : kOperands.at(precision)));
    CHECK(traits.math_unit == op.unit);
  }
  return products;
}

}  // namespace

TEST_CASE("names of products say number type, cores and pass, on every generation") {
  for (const char* gpu : {"v100", "t4", "a100", "l4", "h200", "b200"}) {
    for (const auto& [precision, unused] : kOperands) {
      CAPTURE(std::string(gpu));
      CAPTURE(std::string(precision));
      CHECK(check_names(gpu, "resnet", std::string(precision).c_str()) > 20);
      CHECK(check_names(gpu, "transformer", std::string(precision).c_str()) > 10);
    }
  }
}

TEST_CASE("a graph compiler leaves products in half precision on matrix units") {
  for (const char* precision : {"tf32", "amp-o2", "bf16"}) {
    CAPTURE(std::string(precision));
    test::Switches run = {{"gpu", "a100"},     {"model", "transformer"}, {"data", "generated"},
                          {"layers", "2"},     {"features", "256"},      {"precision", precision},
                          {"fused_ln", "off"}, {"fused_bias_act", "off"}};
    const double with_s = simulate(run, 10).run.result.mean_step_s();
    run.emplace_back("graph_compiler", "off");
    const double without_s = simulate(run, 10).run.result.mean_step_s();
    CHECK(with_s < without_s);
  }
}

TEST_CASE("names of fused kernels say what was fused") {
  const auto simulated = simulate(
      {{"model", "transformer"}, {"data", "generated"}, {"layers", "1"}, {"fused_ln", "off"}}, 2);
  bool found = false;
  for (const sim::Op& op : simulated.run.recordings[0].ops) {
    if (!op.name->text.starts_with("triton_")) continue;
    found = true;
    CAPTURE(op.name->text);
    CHECK(analyzer::classify_kernel(op.name->text).family == KernelFamily::kFused);
  }
  CHECK(found);
}

}  // namespace headway::trainer
