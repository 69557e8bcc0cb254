// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct AddParameters {
  std::int64_t count;
  const void* a;
  const void* b;
  void* c;
  bool packed;  ///< all addresses are multiples of 16
};
enum class AddVariant {
  kNaive,   ///< one element per thread
  kPacked,  ///< eight elements per thread, 16 bytes per load where the addresses allow
};

/// c = a + b over `count` elements of one format (kernels/add/op.h); c may be a or b.
Launch add(const Limits& limits, NumberFormat format, std::int64_t count, const void* a,
           const void* b, void* c, AddVariant variant = AddVariant::kPacked);

}  // namespace headway::kernels::cuda
