// SPDX-License-Identifier: MIT
#include "reference_trainer/app/program.h"
#include "reference_trainer/simulated_trace/write_trace.h"

int main(int argc, char** argv) {
  return headway::trainer::run_program(argc, argv, {headway::trainer::sim::write_trace});
}
