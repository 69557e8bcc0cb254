// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/cuda/joined.h"

#include "common/error.h"

namespace headway::trainer {

JoinedKernel::JoinedKernel(Tag tag, const cuda::Driver& driver, CUstream stream,
                           const std::vector<const Kernel*>& kernels, const LaunchArguments& sample)
    : CudaKernel(std::move(tag)), driver_(driver), set_(sample) {
  try {
    capture(stream, kernels);
    driver_.check(driver_.graphs.instantiate(&executable_, graph_, 0), "cuGraphInstantiate");
  } catch (...) {
    close();
    throw;
  }
}

JoinedKernel::~JoinedKernel() {
  close();
}

/// A failure here follows an earlier one, and a destructor cannot report it.
void JoinedKernel::close() {
  if (executable_) driver_.graphs.destroy_executable(executable_);
  if (graph_) driver_.graphs.destroy(graph_);
}

/// Loader threads may call the driver meanwhile: only this thread's calls must follow the rules of
/// a capture.
void JoinedKernel::capture(CUstream stream, const std::vector<const Kernel*>& kernels) {
  driver_.check(driver_.graphs.begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                "cuStreamBeginCapture");
  try {
    for (const Kernel* each : kernels) {
      const auto* launches = dynamic_cast<const LaunchesKernel*>(each);
      if (!launches || launches->varies_by() == Vary::By::kNothing) {
        static_cast<const CudaKernel*>(each)->send(stream, set_);
        continue;
      }
      Varying varying{launches, {}};
      launches->send_each(stream, set_, [&] { varying.nodes.push_back(last_node(stream)); });
      varying_.push_back(std::move(varying));
    }
  } catch (...) {
    driver_.graphs.end_capture(stream, &graph_);
    throw;
  }
  driver_.check(driver_.graphs.end_capture(stream, &graph_), "cuStreamEndCapture");
}

/// The node on which the next node captured from this stream would depend.
CUgraphNode JoinedKernel::last_node(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  driver_.check(driver_.graphs.capture_info(stream, &status, nullptr, nullptr, &nodes, &count),
                "cuStreamGetCaptureInfo");
  HEADWAY_INVARIANT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && count == 1);
  return nodes[0];
}

void JoinedKernel::send(CUstream stream, const LaunchArguments& arguments) const {
  for (const Varying& varying : varying_) {
    const bool changed = varying.kernel->varies_by() == Vary::By::kRate
                             ? arguments.rate != set_.rate
                             : arguments.batch != set_.batch;
    if (!changed) continue;
    const LaunchesKernel::Set& now = varying.kernel->changed(arguments);
    for (std::size_t i = 0; i < now.launches.size(); ++i) {
      const Launch& launch = now.launches[i];
      void* parameters[] = {const_cast<std::byte*>(launch.parameters.data())};
      const CUDA_KERNEL_NODE_PARAMS_v1 node = {
          now.functions[i],    launch.grid.x, launch.grid.y, 1, launch.threads, 1, 1,
          launch.shared_bytes, parameters,    nullptr};
      driver_.check(driver_.graphs.set_kernel_parameters(executable_, varying.nodes[i], &node),
                    "cuGraphExecKernelNodeSetParams");
    }
  }
  set_ = arguments;
  driver_.check(driver_.graphs.launch(executable_, stream), "cuGraphLaunch");
}

}  // namespace headway::trainer
