// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/reference_trainer/tiny_training.h"

namespace headway::test {

/// What a run leaves: its losses and every parameter.
struct Trained {
  trainer::RunResult result;
  std::map<std::string, std::vector<float>> parameters;
  std::int64_t memory_bytes = 0;   ///< that the graph holds at the end
  std::int64_t lasting_bytes = 0;  ///< of values that outlive a step
};

inline Trained train_on(trainer::Device& device, const trainer::Settings& settings) {
  std::string note;
  trainer::DataSetup data(
      settings, [](auto, auto) {}, note);
  trainer::Trainer trainer(settings, device, data.data());
  Trained trained{trainer.run({}), {}};
  for (trainer::ValueId id : trainer.graph().parameters())
    trained.parameters[trainer.graph().value(id).name] = trainer.compiled().read(id);
  trained.memory_bytes = trainer.compiled().memory_bytes();
  for (std::size_t i = 0; i < trainer.graph().value_count(); ++i) {
    const auto id = trainer::ValueId::from(i);
    const trainer::Role role = trainer.graph().value(id).role;
    const int copies = role == trainer::Role::kInput ? trainer::InputFeed::slots(settings.h2d) : 1;
    if (role != trainer::Role::kActivation)
      trained.lasting_bytes += copies * trainer.compiled().memory_size(id);
  }
  return trained;
}

}  // namespace headway::test
