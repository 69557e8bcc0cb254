// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/support/training_trace.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: headway_make_training_trace OUT.sqlite [STEPS]\n");
    return 2;
  }
  headway::test::TrainingTrace run;
  if (argc > 2) run.steps = std::atoi(argv[2]);
  headway::test::TraceBuilder builder;
  run.build(builder);
  std::filesystem::copy_file(builder.save(), argv[1],
                             std::filesystem::copy_options::overwrite_existing);
}
