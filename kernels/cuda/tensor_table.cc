// SPDX-License-Identifier: MIT
#include "kernels/cuda/tensor_table.h"

namespace headway::kernels::cuda {
namespace {

std::int64_t chunks_of(const TableTensor& tensor) {
  return (tensor.count + kChunk - 1) / kChunk;
}

}  // namespace

std::int64_t count_chunks(std::span<const TableTensor> tensors) {
  std::int64_t chunks = 0;
  for (const TableTensor& tensor : tensors) chunks += chunks_of(tensor);
  return chunks;
}

Launches table_launches(const Limits& limits, const char* image, const std::string& name,
                        const TableStep& by, std::span<const TableTensor> tensors) {
  for (const TableTensor& tensor : tensors)
    require(tensor.count >= 0, name.c_str(), "a tensor's count is negative");
  return launch_tables(limits, image, name, by, tensors, chunks_of);
}

}  // namespace headway::kernels::cuda
