// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/cuda/cuda_kernel.h"

namespace headway::trainer {

void LaunchesKernel::add(Launches launches) {
  Set set{std::move(launches), {}};
  for (const Launch& launch : set.launches) set.functions.push_back(library_.function(launch));
  of_slot_.push_back(std::move(set));
}

const LaunchesKernel::Set& LaunchesKernel::changed(const LaunchArguments& arguments) const {
  Set& set = of_slot_[of_slot_.size() > 1 ? static_cast<std::size_t>(arguments.slot) : 0];
  if (vary_.by != Vary::By::kNothing) vary_.change(set.launches, arguments);
  return set;
}

}  // namespace headway::trainer
