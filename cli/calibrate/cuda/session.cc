// SPDX-License-Identifier: MIT
#include "cli/calibrate/cuda/session.h"

#include <algorithm>
#include <array>

#include "cli/calibrate/cuda/kernels.h"

namespace headway::calibrate {

Session::Session(const Driver& driver, int ordinal) : driver_(driver), context_(driver, ordinal) {
  try {
    HEADWAY_CU(driver_, cuModuleLoadData, &module_, kKernels);
    HEADWAY_CU(driver_, cuModuleGetFunction, &empty_, module_, "empty");
    HEADWAY_CU(driver_, cuModuleGetFunction, &spin_, module_, "spin");
    HEADWAY_CU(driver_, cuModuleGetFunction, &triad_, module_, "triad");
    HEADWAY_CU(driver_, cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
    HEADWAY_CU(driver_, cuEventCreate, &begin_, CU_EVENT_DEFAULT);
    HEADWAY_CU(driver_, cuEventCreate, &end_, CU_EVENT_DEFAULT);
  } catch (...) {
    close();
    throw;
  }
}

Session::~Session() {
  close();
}

/// Ignores errors: a call fails here only after an earlier failure, and a destructor cannot report
/// it.
void Session::close() {
  if (end_) driver_.cuEventDestroy_(end_);
  if (begin_) driver_.cuEventDestroy_(begin_);
  if (stream_) driver_.cuStreamDestroy_(stream_);
  if (module_) driver_.cuModuleUnload_(module_);
}

void Session::launch(CUfunction function, unsigned blocks, unsigned threads,
                     std::span<void*> arguments) {
  HEADWAY_CU(driver_, cuLaunchKernel, function, blocks, 1, 1, threads, 1, 1, 0, stream_,
             arguments.data(), nullptr);
}

void Session::launch_spin(std::uint64_t ns) {
  std::array<void*, 1> arguments = {&ns};
  launch(spin_, 1, 1, arguments);
}

void Session::launch_triad(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, std::uint64_t groups) {
  constexpr unsigned kThreads = 256;
  constexpr unsigned kBlocksEach = 16;
  float scale = 3;
  std::array<void*, 5> arguments = {&a, &b, &c, &scale, &groups};
  launch(triad_, static_cast<unsigned>(std::max(1, context_.multiprocessors())) * kBlocksEach,
         kThreads, arguments);
}

void Session::wait() {
  HEADWAY_CU(driver_, cuStreamSynchronize, stream_);
}

double Session::between_events() {
  float milliseconds = 0;
  HEADWAY_CU(driver_, cuEventSynchronize, end_);
  HEADWAY_CU(driver_, cuEventElapsedTime, &milliseconds, begin_, end_);
  return static_cast<double>(milliseconds) * 1e-3;
}

double Session::time(const std::function<void()>& work) {
  HEADWAY_CU(driver_, cuEventRecord, begin_, stream_);
  work();
  HEADWAY_CU(driver_, cuEventRecord, end_, stream_);
  return between_events();
}

double Session::time_queued(std::uint64_t ns, const std::function<void()>& work) {
  launch_spin(ns);
  return time(work);
}

}  // namespace headway::calibrate
