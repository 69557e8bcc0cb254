// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/evidence/product_waves.h"
#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Matrix products of a device whose blocks leave multiprocessors idle and that gain by split-k.
struct UnfilledProducts {
  DurationNs recoverable;  ///< per step
  DurationNs time;         ///< per step, of the products that gain
  double kernels = 0;      ///< per step, number of products that gain
  bool any_told = false;   ///< blocks, multiprocessors and depth of at least one product are known
  ProductGrid worst;       ///< of the kernel name that gains most
  SplitProduct split;      ///< of `worst`
  trace::DeviceOpId example;
  std::vector<Evidence> evidence;
};
UnfilledProducts unfilled_products(const RuleContext& context, const DevicePartition& device);

}  // namespace headway::analyzer
