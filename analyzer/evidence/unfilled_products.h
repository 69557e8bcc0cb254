// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/evidence/product_waves.h"
#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Matrix products of a device whose blocks leave multiprocessors without work, where split-k gives them some.
struct UnfilledProducts {
  DurationNs recoverable;  ///< per step
  DurationNs time;         ///< likewise, of the products that gain
  double kernels = 0;      ///< likewise
  bool any_told = false;   ///< blocks, multiprocessors and the depth of some product are known
  ProductGrid worst;       ///< of the kernel name that gains most
  SplitProduct split;      ///< of `worst`
  trace::DeviceOpId example;
  std::vector<Evidence> evidence;
};
UnfilledProducts unfilled_products(const RuleContext& context, const DevicePartition& device);

}  // namespace headway::analyzer
