// SPDX-License-Identifier: MIT
#pragma once

#include "cli/live/figures.h"

namespace headway::cli::live::test {

/// A run of four ranks that waits for input in a third of its steps.
inline Figures some_figures() {
  using analyzer::TimeClass;
  Figures figures;
  figures.phase = Phase::kRunning;
  figures.file = "/data/run.sqlite";
  figures.elapsed = {83'400'000'000};
  figures.step_now = {31'200'000};
  figures.steps_now = 20;
  figures.step_run = {30'800'000};
  figures.steps_run = 1238;
  figures.steps_done = 1240;
  figures.samples_per_s = 1025.6;
  figures.classes[TimeClass::kComputeOther] = {18'720'000};
  figures.classes[TimeClass::kIoRead] = {9'360'000};
  figures.classes[TimeClass::kLaunchGap] = {1'560'000};
  figures.classes[TimeClass::kHostOther] = {1'248'000};
  figures.classes[TimeClass::kUnknown] = {312'000};
  figures.rank = 2;
  figures.ranks = {{0, {30'100'000}}, {1, {30'000'000}}, {2, {31'200'000}}, {3, {30'200'000}}};
  figures.processes = 12;
  figures.machine.processes_cpu_percent = 640;
  figures.machine.processors = 8;
  figures.machine.machine_cpu_percent = 85;
  figures.machine.resident_bytes = 3'100'000'000;
  figures.machine.gpus = {{0, 83, 10'200'000'000, 80'000'000'000}};
  figures.cause =
      Cause{"Workers starved: more workers: step 31.2 → 21.8 ms (−30.0 %)", true, {83'000'000'000}};
  return figures;
}

}  // namespace headway::cli::live::test
