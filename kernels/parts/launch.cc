// SPDX-License-Identifier: MIT
#include "kernels/parts/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

Launch move_parts(const Limits& limits, const char* kernel, NumberFormat format,
                  std::int64_t images, std::span<const Part> parts, void* table) {
  require(!parts.empty() && parts.size() <= kMostParts, kernel, "there must be 1 to 16 parts");
  require_flat(kernel, format, images, table);
  PartsParameters by{images, 0, static_cast<int>(parts.size()), {}, {}, table, all_packed(table)};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    require_flat(kernel, format, parts[i].elements, parts[i].at);
    by.part[i] = parts[i].at;
    by.begin[i] = by.row;
    by.row += parts[i].elements;
    // Every part begins and every image ends at a multiple of the pack.
    by.packed = by.packed && all_packed(parts[i].at) && parts[i].elements % kFlatPack == 0;
  }
  by.begin[parts.size()] = by.row;
  return make_launch("parts", kernel_name(kernel, format),
                     flat_grid(limits, images * by.row, by.packed), kFlatThreads, by);
}

}  // namespace

Launch join_parts(const Limits& limits, NumberFormat format, std::int64_t images,
                  std::span<const Part> parts, void* table) {
  return move_parts(limits, "join_parts", format, images, parts, table);
}

Launch split_parts(const Limits& limits, NumberFormat format, std::int64_t images,
                   std::span<const Part> parts, const void* table) {
  return move_parts(limits, "split_parts", format, images, parts, const_cast<void*>(table));
}

}  // namespace headway::kernels::cuda
