// SPDX-License-Identifier: MIT
// Attribution in recordings of a framework's profiler: operators, modules, phases.
#include <doctest/doctest.h>

#include "analyzer/attribution/attribution.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;
using trace::Phase;

const ModelOp& op_of(const Attribution& attribution, std::size_t device_op) {
  return attribution.ops[attribution.op_of[device_op].value];
}

}  // namespace

TEST_CASE("a kernel belongs to the innermost operator and to the modules around it") {
  TraceBuilder builder;
  builder.domain("python_function");
  builder.range(1, "train.py(10): main", 0, 1000);
  builder.range(1, "nn.Module: ResNet_0", 10, 900);
  builder.range(1, "nn.Module: Conv2d_3", 20, 400);
  builder.domain("cpu_op");
  builder.range(1, "aten::conv2d", 30, 300);
  builder.range(1, "aten::cudnn_convolution", 40, 200);
  builder.domain("python_function");
  builder.range(1, "torch/_ops.py(1): __call__", 45, 190);
  builder.launch(1, 50, 60, 100, 200, {});
  trace::Trace trace = builder.load();
  Attribution attribution = attribute(trace);
  CHECK(op_of(attribution, 0).name == "aten::cudnn_convolution");
  CHECK(op_of(attribution, 0).module == "ResNet_0/Conv2d_3");
}

TEST_CASE("module names that are qualified in the model are not repeated for each module around") {
  TraceBuilder builder;
  builder.range(1, "nn.Module: Net", 10, 900);
  builder.range(1, "nn.Module: layer1", 15, 800);
  builder.range(1, "nn.Module: layer1.0", 20, 700);
  builder.range(1, "nn.Module: layer1.0.conv1", 25, 400);
  builder.launch(1, 50, 60, 100, 200, {});
  builder.range(1, "nn.Module: layer10", 500, 600);
  builder.launch(1, 510, 520, 530, 540, {});
  trace::Trace trace = builder.load();
  Attribution attribution = attribute(trace);
  CHECK(op_of(attribution, 0).module == "Net/layer1.0.conv1");
  CHECK(op_of(attribution, 1).module == "Net/layer1.0/layer10");  // begins alike, but is no part
}

TEST_CASE("a backward op has the module of the forward op with its number, on another thread") {
  TraceBuilder builder;
  builder.range(1, "layer1.0.conv1, op_id = 4", 0, 100);
  builder.range(1, "conv2d, seq = 17, op_id = 5", 10, 90);
  builder.launch(1, 20, 30, 40, 60, {});
  builder.range(2, "ConvolutionBackward0, seq = 17, op_id = 50", 200, 300);
  builder.launch(2, 210, 220, 230, 260, {});
  builder.range(2, "ConvolutionBackward0, seq = 18, op_id = 51", 300, 400);
  builder.launch(2, 310, 320, 330, 360, {});
  trace::Trace trace = builder.load();
  Attribution attribution = attribute(trace);
  CHECK(op_of(attribution, 0).name == "conv2d");
  CHECK(op_of(attribution, 0).module == "layer1.0.conv1");
  CHECK(op_of(attribution, 1).name == "ConvolutionBackward0");
  CHECK(op_of(attribution, 1).module == "layer1.0.conv1");
  CHECK(attribution.phase_of[1] == Phase::kBackward);
  CHECK(op_of(attribution, 2).module.empty());  // nothing forward has this number
}

TEST_CASE("phases come from annotations, what is outside decides for update and backward") {
  TraceBuilder builder;
  builder.domain("user_annotation");
  builder.range(1, "## forward ##", 0, 100);
  builder.launch(1, 10, 20, 30, 40, {});
  builder.range(1, "Optimizer.step#SGD.step", 200, 300);
  builder.domain("cpu_op");
  builder.range(1, "aten::_foreach_add_", 210, 290);
  builder.launch(1, 220, 230, 240, 250, {});
  builder.range(2, "autograd::engine::evaluate_function: CheckpointBackward", 100, 190);
  builder.range(2, "forward", 110, 180);
  builder.launch(2, 120, 130, 140, 150, {});
  trace::Trace trace = builder.load();
  Attribution attribution = attribute(trace);
  CHECK(attribution.phase_of[0] == Phase::kForward);
  CHECK(attribution.phase_of[1] == Phase::kBackward);  // recomputed, by order of the device
  CHECK(attribution.phase_of[2] == Phase::kUpdate);
  CHECK(attribution.class_of[2] == TimeClass::kOptimizer);
}

TEST_CASE("a step is no op: work inside nothing else is unattributed") {
  TraceBuilder builder;
  builder.domain("user_annotation");
  builder.range(1, "ProfilerStep#5", 0, 1000);
  builder.launch(1, 10, 20, 30, 40, {});
  trace::Trace trace = builder.load();
  Attribution attribution = attribute(trace);
  CHECK(attribution.op_of[0].value == 0);
  CHECK(attribution.range_of[0].valid());
}

TEST_CASE("tensor cores are told by the kernel's name where the recording does not say") {
  TraceBuilder builder;
  builder.launch(1, 0, 5, 10, 20, {.name = "nvjet_tst_192x192_64x3_2x1_v_bz_coopB_TNT"});
  builder.launch(1, 6, 9, 20, 30, {.name = "ampere_sgemm_128x64_tn"});
  builder.launch(1, 10, 12, 30, 40, {.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"});
  trace::Trace trace = builder.load();
  Attribution attribution = attribute(trace);
  CHECK(attribution.class_of[0] == TimeClass::kComputeTensor);
  CHECK(attribution.class_of[1] == TimeClass::kComputeOther);
  CHECK(attribution.class_of[2] == TimeClass::kCommTransfer);
}

TEST_CASE("communication is told by its mechanism") {
  for (std::string_view name :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
        "void deep_ep::intranode::dispatch<8, 768>(int4*, float*)", "nvshmemi_transfer_put_signal",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)",
        "void vllm::cross_device_reduce_2stage<float, 8>(vllm::RankData*)",
        "two_shot_all_reduce_kernel<c10::BFloat16, 16, 8>", "mscclpp::allreduce_kernel"}) {
    CAPTURE(name);
    CHECK(classify_kernel(name).family == KernelFamily::kCommunication);
  }
  CHECK(names_communication_call("gloo:all_reduce"));
  CHECK(names_communication_call("c10d::allreduce_"));
  CHECK(!names_communication_call("aten::add"));
}

}  // namespace headway::analyzer
