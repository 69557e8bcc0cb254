// SPDX-License-Identifier: MIT
#include "analyzer/hardware/model_figures.h"

#include <algorithm>
#include <array>

namespace headway::analyzer {
namespace {

using enum MachineFigure;

// From `headway report --json` (critical_path.graph.delays) on public recordings by PyTorch's profiler,
// 2026-11-22. Left out: figures with fewer than 20 instances, and recordings in whole microseconds. With a
// launch latency from such a recording of an A100, the replay of another is off by 0.6 % instead of 0.3.
constexpr auto kRows = std::to_array<ModelFigure>({
    {"v100",
     kLaunch,
     {6451, 6916, 19130, 48},
     "recording v100_resnet_ddp_ns of HolisticTraceAnalysis"},
    {"v100",
     kKernelGap,
     {672, 800, 1792, 5931},
     "recording v100_resnet_ddp_ns of HolisticTraceAnalysis"},
    {"h100-sxm", kLaunch, {5527, 6538, 9150, 61}, "recording h100_bert_small of TraceLens"},
    {"h100-sxm", kKernelGap, {928, 1376, 2304, 1160}, "recording h100_qwen_0_5b of TraceLens"},
});

}  // namespace

std::span<const ModelFigure> model_figures() {
  return kRows;
}

const ModelFigure* find_model_figure(std::string_view model, MachineFigure figure) {
  auto found = std::ranges::find_if(
      kRows, [&](const ModelFigure& row) { return row.model == model && row.figure == figure; });
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace headway::analyzer
