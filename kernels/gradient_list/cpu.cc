// SPDX-License-Identifier: MIT
#include "kernels/gradient_list/op.h"

#include <vector>

#include "kernels/cast/op.h"
#include "kernels/half.h"
#include "kernels/tensor_list.h"

namespace headway::kernels {
namespace {

/// Access to values in FP32.
struct Floats {
  float* values;
  float get(std::int64_t i) const { return values[i]; }
  void set(std::int64_t i, float value) const { values[i] = value; }
};
template <NumberFormat kFormat>
struct Bits16 {
  std::uint16_t* values;
  float get(std::int64_t i) const { return from_16_bits(kFormat, values[i]); }
  void set(std::int64_t i, float value) const { values[i] = to_16_bits(kFormat, value); }
};

template <class Body>
void with_values(const GradientTensor& tensor, const Body& body) {
  switch (tensor.format) {
    case NumberFormat::kFloat16:
      return body(Bits16<NumberFormat::kFloat16>{static_cast<std::uint16_t*>(tensor.values)});
    case NumberFormat::kBfloat16:
      return body(Bits16<NumberFormat::kBfloat16>{static_cast<std::uint16_t*>(tensor.values)});
    case NumberFormat::kFloat32:
    case NumberFormat::kTf32:
      return body(Floats{static_cast<float*>(tensor.values)});
  }
}

/// Calls body(values, flat, from, to, tensor) for elements [from, to) of a tensor; `flat` is the
/// place of the tensor's first element in the flat array.
template <class Flat, class Body>
void for_each_value(std::span<const GradientTensor> tensors, Flat* flat, const Body& body) {
  std::vector<Flat*> places;
  places.reserve(tensors.size());
  for (const GradientTensor& tensor : tensors) {
    places.push_back(flat);
    flat += tensor.count;
  }
  for_each_piece(tensors, [&](const GradientTensor& tensor, std::int64_t from, std::int64_t to) {
    Flat* place = places[static_cast<std::size_t>(&tensor - tensors.data())];
    with_values(tensor, [&](auto values) { body(values, place, from, to, tensor); });
  });
}

std::int64_t count_of(std::span<const GradientTensor> tensors) {
  std::int64_t count = 0;
  for (const GradientTensor& tensor : tensors) count += tensor.count;
  return count;
}
std::int64_t bytes_of(std::span<const GradientTensor> tensors) {
  std::int64_t bytes = 0;
  for (const GradientTensor& tensor : tensors) bytes += tensor.count * bits_of(tensor.format) / 8;
  return bytes;
}

}  // namespace

void run(const PackGradients& op) {
  for_each_value(op.tensors, op.flat,
                 [](auto values, float* flat, auto from, auto to, const GradientTensor&) {
                   for (std::int64_t i = from; i < to; ++i) flat[i] = values.get(i);
                 });
}

void run(const UnpackGradients& op) {
  for_each_value(
      op.tensors, op.flat,
      [&op](auto values, const float* flat, auto from, auto to, const GradientTensor& tensor) {
        for (std::int64_t i = from; i < to; ++i) {
          const float value = flat[i] * op.factor;
          values.set(i, tensor.mask && tensor.mask[i] == 0 ? 0.0F : value);
        }
        if (op.values != NumberFormat::kFloat32 && tensor.format == NumberFormat::kFloat32) {
          float* const first = static_cast<float*>(tensor.values) + from;
          round_to(op.values, to - from, first, first);
        }
      });
}

void run(const AddUpGradients& op) {
  for_each_value(op.tensors, op.sums,
                 [&op](auto values, float* sums, auto from, auto to, const GradientTensor&) {
                   for (std::int64_t i = from; i < to; ++i) {
                     const float sum = values.get(i) + (op.first ? 0.0F : sums[i]);
                     if (op.last) {
                       values.set(i, sum * op.factor);
                     } else {
                       sums[i] = sum;
                     }
                   }
                 });
}

void run(const AddVector& op) {
  parallel_for(op.count, kFlatGrain, max_threads(), [&op](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) op.to[i] += op.from[i];
  });
}

Work work_of(const PackGradients& op) {
  return {0, bytes_of(op.tensors) + 4 * count_of(op.tensors)};
}
Work work_of(const UnpackGradients& op) {
  return {count_of(op.tensors), bytes_of(op.tensors) + 4 * count_of(op.tensors)};
}
Work work_of(const AddUpGradients& op) {
  const std::int64_t count = count_of(op.tensors);
  return {count, bytes_of(op.tensors) + (op.first ? 4 : 8) * count};
}

}  // namespace headway::kernels
