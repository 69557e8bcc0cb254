// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "reference_trainer/app/data_setup.h"
#include "reference_trainer/train/inference.h"
#include "tests/reference_trainer/tiny_training.h"

namespace headway::test {

/// Settings of an inference that takes a fraction of a second.
inline trainer::Settings tiny_inference(trainer::ModelKind model = trainer::ModelKind::kResnet) {
  trainer::Settings settings = tiny_settings();
  settings.mode = trainer::RunMode::kInfer;
  settings.model = model;
  settings.layers = 2;
  settings.features = 32;
  settings.heads = 2;
  settings.sequence = 16;
  settings.image_size = 32;
  settings.train_steps = 12;
  settings.steps = 2;
  settings.eval = true;
  settings.eval_samples = 40;
  settings.calibration_samples = 40;
  return settings;
}

/// Data of a run, and the parameters that a training of it leaves.
struct Served {
  explicit Served(const trainer::Settings& settings)
      : data(
            settings, [](auto, auto) {}, note) {
    trainer::HostDevice device({1});
    parameters = trainer::parameters_for_inference(settings, device, data.data(), {});
  }

  trainer::RunResult run(trainer::Device& device, const trainer::Settings& settings) const {
    trainer::Inference inference(settings, device, data.data(), parameters);
    return inference.run({});
  }
  trainer::RunResult run(const trainer::Settings& settings) const {
    trainer::HostDevice device({1});
    return run(device, settings);
  }

  std::string note;
  trainer::DataSetup data;
  trainer::ParameterSet parameters;
};

}  // namespace headway::test
