// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/devices/sim/cost_model.h"

namespace headway::trainer::sim {

class SimDevice;

/// A kernel with a duration and nothing to run.
class SimKernel final : public Kernel {
 public:
  /// `divided`: see CostModel::kernel. `name`: as a profiler shows it; empty: made from the first
  /// word of the tag's text.
  SimKernel(Tag tag, const CostModel& costs, double divided = 1, const std::string& name = {},
            int access_bytes = 16, SplitSums split = {});

  const CostModel::KernelCost& cost() const { return cost_; }
  /// For kernels of a recurrent layer. `repeats_by_step`: the kernel covers all time steps and
  /// reads the weights at each. `is_of_step`: the kernel covers one of `steps` time steps and is
  /// not launched for a batch that ends before it.
  void repeats_by_step() { by_step_ = true; }
  void is_of_step(std::int64_t step, std::int64_t steps) {
    step_ = step;
    steps_ = steps;
  }
  /// The work that is divided among blocks is `load(batch)` times what the graph says.
  void depends_on_batch(std::function<double(std::int64_t)> load) { load_ = std::move(load); }
  double load(std::int64_t batch) const { return load_ ? load_(batch) : 1; }
  bool is_beyond(double filled) const {
    return steps_ > 0 && static_cast<double>(step_) >= filled * static_cast<double>(steps_);
  }
  /// Cost for a batch that fills `filled` of the graph's length: the work that is divided among
  /// blocks shrinks by this factor.
  CostModel::KernelCost cost(double filled) const;
  kernels::Work work(double filled) const;
  /// The name in a GPU's profiler: what the kernel computes, not where in the model it stands.
  nvtx::Name device_name() const { return device_name_; }
  /// Stable from run to run; determines the kernel's jitter.
  std::uint64_t number() const { return number_; }

 private:
  const CostModel& costs_;
  double divided_;
  int access_bytes_;
  SplitSums split_;
  std::function<double(std::int64_t)> load_ = {};
  bool by_step_ = false;
  std::int64_t step_ = 0;
  std::int64_t steps_ = 0;  ///< 0: it covers all time steps
  CostModel::KernelCost cost_;
  nvtx::Name device_name_;
  std::uint64_t number_;
};

/// Kernels that one call launches, like a CUDA graph.
class SimGraphLaunch final : public Kernel {
 public:
  SimGraphLaunch(Tag tag, std::vector<const SimKernel*> nodes, std::int64_t number)
      : Kernel(std::move(tag)), nodes_(std::move(nodes)), number_(number) {}

  const std::vector<const SimKernel*>& nodes() const { return nodes_; }
  std::int64_t number() const { return number_; }  ///< from 1

 private:
  std::vector<const SimKernel*> nodes_;
  std::int64_t number_;
};

/// A graph on a simulated device: kernels with durations from each op's Work, without real memory.
std::unique_ptr<CompiledGraph> compile_for_simulation(SimDevice& device, const Graph& graph,
                                                      const CompileOptions& options);

}  // namespace headway::trainer::sim
