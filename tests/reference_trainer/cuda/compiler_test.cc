// SPDX-License-Identifier: MIT
// NVRTC itself, which needs no GPU, takes every row program of the models' graphs. Where there is no GPU, the driver's stand-in has to
// find kernels in images that it cannot read: FAKE_CUDA_ANY_KERNEL=1. Where there is one, its driver takes them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "kernels/cuda/code_compiler.h"
#include "reference_trainer/devices/cuda/cuda_kernel.h"
#include "tests/reference_trainer/cuda/both_devices.h"
#include "tests/reference_trainer/tiny_detector.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

/// Small batches of layers that are as wide as usual ones, so that programs are those of real runs.
std::vector<Settings> all_models(const test::TemporaryFolder& cache) {
  Settings pictures = test::tiny_settings();
  pictures.batch = 2;
  Settings text = pictures;
  text.model = ModelKind::kTransformer;
  text.layers = 2;
  text.heads = 4;
  text.features = 256;
  text.sequence = 32;
  Settings windows = text;
  windows.window = 16;
  windows.fused_attention = false;
  Settings translation = text;
  translation.model = ModelKind::kGnmt;
  Settings boxes = test::tiny_detector(cache.path());
  boxes.batch = 2;
  boxes.assign = Assign::kBatched;
  return {pictures, text, windows, translation, boxes};
}

/// As it is, with as little fused by hand as may be, and with nothing joined either.
std::vector<Settings> variants(const Settings& settings) {
  Settings parts = settings;
  parts.fused_bn = parts.fused_ln = parts.fused_attention = parts.fused_bias_act = false;
  parts.fused_loss = parts.persistent_rnn = false;
  parts.fused_optimizer = OptimizerFusion::kOff;
  Settings apart = parts;
  apart.graph_compiler = GraphCompiler::kOff;
  return {settings, parts, apart};
}

using Programs = std::map<std::string, std::string>;  // by kernel

void add_programs(Device& device, const Settings& settings, Programs& programs) {
  std::string note;
  DataSetup data(
      settings, [](auto, auto) {}, note);
  const Trainer trainer(settings, device, data.data());
  for (std::size_t i = 0; i < trainer.graph().node_count(); ++i)
    for (const auto& kernel : trainer.compiled().kernels(NodeId::from(i)))
      if (const auto* launches = dynamic_cast<const LaunchesKernel*>(kernel.get()))
        for (const Launch& launch : launches->changed({}).launches)
          if (launch.code) programs[launch.kernel] = *launch.code;
}

}  // namespace

TEST_CASE("NVRTC compiles every program of every model and precision for every GPU") {
  const auto device = open_cuda_device({});
  const bool emulated = device->info().name == "Emulated GPU";
  if (emulated && !std::getenv("FAKE_CUDA_ANY_KERNEL")) {
    MESSAGE("[skipped] the driver's stand-in cannot read what NVRTC makes");
    return;
  }
  if (!device->info().note.empty()) {
    MESSAGE("[skipped] ", device->info().note);
    return;
  }
  const test::TemporaryFolder cache;
  Programs programs;
  for (const Settings& model : all_models(cache))
    for (Settings settings : variants(model))
      for (Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kAmpO1,
                                  Precision::kAmpO2, Precision::kBf16}) {
        settings.precision = precision;
        add_programs(*device, settings, programs);
      }
  CHECK(programs.size() > 50);
  MESSAGE(programs.size(), " programs");
  if (!emulated) return;
  std::string why;
  constexpr int kAnyDriver = 13000;
  const auto nvrtc = cuda::Nvrtc::load(kAnyDriver, why);
  REQUIRE_MESSAGE(nvrtc, why);
  for (int capability : {80, 90, 100}) {
    const auto target = nvrtc->target(capability, why);
    REQUIRE_MESSAGE(target.has_value(), why);
    for (const auto& [kernel, code] : programs) {
      CAPTURE(kernel);
      CHECK(!nvrtc->compile(kernel, code, kernels::cuda::code_headers(), *target).empty());
    }
  }
}

}  // namespace headway::trainer
