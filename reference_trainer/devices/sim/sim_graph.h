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
  /// `divided`: see CostModel::kernel. `name`: as a profiler shows it; empty: by its text's first word.
  SimKernel(Tag tag, const CostModel& costs, double divided = 1, const std::string& name = {},
            int access_bytes = 16, SplitSums split = {});

  const CostModel::KernelCost& cost() const { return cost_; }
  /// Of a recurrent layer: does its work for every time step, and weights are read each time; or for one of `steps` alone,
  /// and is not launched for a batch that ends before.
  void repeats_by_step() { by_step_ = true; }
  void is_of_step(std::int64_t step, std::int64_t steps) {
    step_ = step;
    steps_ = steps;
  }
  /// What it is divided among blocks of is so many times what the graph says.
  void depends_on_batch(std::function<double(std::int64_t)> load) { load_ = std::move(load); }
  double load(std::int64_t batch) const { return load_ ? load_(batch) : 1; }
  bool is_beyond(double filled) const {
    return steps_ > 0 && static_cast<double>(step_) >= filled * static_cast<double>(steps_);
  }
  /// Of a batch that has `filled` of the graph's length: what is divided among blocks is less by as much.
  CostModel::KernelCost cost(double filled) const;
  kernels::Work work(double filled) const;
  /// As a GPU's profiler names it: by what it does, not by where in the model it stands.
  nvtx::Name device_name() const { return device_name_; }
  /// Stable from run to run: decides its jitter.
  std::uint64_t number() const { return number_; }

 private:
  const CostModel& costs_;
  double divided_;
  int access_bytes_;
  SplitSums split_;
  std::function<double(std::int64_t)> load_ = {};
  bool by_step_ = false;
  std::int64_t step_ = 0;
  std::int64_t steps_ = 0;  ///< 0: of all
  CostModel::KernelCost cost_;
  nvtx::Name device_name_;
  std::uint64_t number_;
};

/// Kernels that one call launches, as a CUDA graph.
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

/// A graph on a simulated device: kernels with durations from each op's Work, and no memory.
std::unique_ptr<CompiledGraph> compile_for_simulation(SimDevice& device, const Graph& graph,
                                                      const CompileOptions& options);

}  // namespace headway::trainer::sim
