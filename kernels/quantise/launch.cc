// SPDX-License-Identifier: MIT
#include "kernels/quantise/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

std::size_t bytes_of(Element element) {
  switch (element) {
    case Element::kInt8:
      return 1;
    case Element::kFloat16:
    case Element::kBfloat16:
      return 2;
    default:
      return 4;
  }
}

}  // namespace

Launch quantise(const Limits& limits, NumberFormat format, const QuantiseShape& shape,
                const void* from, std::int8_t* to) {
  constexpr const char* kName = "quantise";
  const std::int64_t count = shape.rows * shape.to_columns;
  require_flat(kName, format, count, from);
  require(shape.to_columns >= shape.columns && shape.scale > 0, kName,
          "the result must have room for every column, and the scale be positive");
  return make_launch(kName, kernel_name(kName, format), flat_grid(limits, count, false),
                     kFlatThreads, QuantiseParameters{shape, from, to});
}

Launch product_epilogue(const Limits& limits, const ProductEpilogue& shape,
                        const EpilogueArrays& arrays) {
  constexpr const char* kName = "product_epilogue";
  const std::int64_t count = shape.rows * shape.columns;
  require_flat(kName, NumberFormat::kFloat32, count, arrays.bias);
  require_aligned(arrays.x, bytes_of(arrays.x_type), kName, "the product");
  require_aligned(arrays.y, bytes_of(arrays.y_type), kName, "the result");
  require((arrays.y_type == Element::kInt8) == (shape.inverse_scale > 0), kName,
          "results that are integers, and only they, have a scale");
  require((arrays.residual == nullptr) == (arrays.residual_type == Element::kNone), kName,
          "a residual has a type");
  return make_launch("quantise", kName, flat_grid(limits, count, false), kFlatThreads,
                     EpilogueParameters{shape, arrays});
}

}  // namespace headway::kernels::cuda
