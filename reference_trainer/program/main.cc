// SPDX-License-Identifier: MIT
#include "reference_trainer/app/program.h"
#include "reference_trainer/simulated_trace/write_calibration.h"
#include "reference_trainer/simulated_trace/write_trace.h"

int main(int argc, char** argv) {
  namespace sim = headway::trainer::sim;
  return headway::trainer::run_program(argc, argv, {sim::write_trace, sim::write_calibration});
}
