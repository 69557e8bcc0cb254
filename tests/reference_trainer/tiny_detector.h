// SPDX-License-Identifier: MIT
#pragma once

#include "tests/reference_trainer/tiny_training.h"

namespace headway::test {

/// A detector of width 8 on pictures of 64 pixels put together of generated shapes.
inline trainer::Settings tiny_detector(const std::filesystem::path& cache) {
  trainer::Settings settings = tiny_settings();
  settings.model = trainer::ModelKind::kSsd;
  settings.source = trainer::SourceKind::kShards;
  settings.cache_dir = cache.string();
  settings.samples = 100;
  return settings;
}

}  // namespace headway::test
