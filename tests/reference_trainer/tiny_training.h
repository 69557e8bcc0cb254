// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "reference_trainer/app/data_setup.h"
#include "reference_trainer/devices/host/host_device.h"
#include "reference_trainer/train/trainer.h"

namespace headway::test {

/// Settings of a run that takes a fraction of a second: ResNet-8 of width 8 on generated images in
/// memory, one compute thread.
inline trainer::Settings tiny_settings() {
  trainer::Settings settings;
  settings.data = trainer::DataKind::kGenerated;
  settings.source = trainer::SourceKind::kMemory;
  settings.samples = 200;
  settings.depth = 8;
  settings.width = 8;
  settings.batch = 8;
  settings.steps = 12;
  settings.threads = 1;
  settings.eval = false;
  return settings;
}

inline trainer::RunResult train(const trainer::Settings& settings) {
  std::string note;
  trainer::DataSetup data(
      settings, [](auto, auto) {}, note);
  trainer::HostDevice device({static_cast<int>(settings.threads), settings.link_mb_per_s * 1e6,
                              settings.memory_gb_per_s * 1e9});
  trainer::Trainer trainer(settings, device, data.data());
  return trainer.run({});
}

}  // namespace headway::test
