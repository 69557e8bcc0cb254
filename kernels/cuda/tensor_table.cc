// SPDX-License-Identifier: MIT
#include "kernels/cuda/tensor_table.h"

namespace headway::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;

std::int64_t chunks_of(const TableTensor& tensor) {
  return (tensor.count + kChunk - 1) / kChunk;
}

template <class Table>
Launches launches_of(const Limits& limits, const char* image, const std::string& kernel,
                     TableStep by, std::span<const TableTensor> tensors) {
  Launches launches;
  Table table{};
  table.by = by;
  std::int32_t offset = 0;
  auto send = [&] {
    if (table.by.tensors == 0) return;
    table.by.chunk_offset = offset;
    const unsigned blocks = blocks_for(table.by.chunks, 1, limits, 8);
    launches.push_back(make_launch(image, kernel, {blocks}, kThreads, table));
    offset += table.by.chunks;
    table.by.tensors = table.by.chunks = 0;
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].count == 0) continue;
    TableTensor& entry = table.tensors[table.by.tensors++];
    entry = tensors[i];
    entry.number = static_cast<std::int32_t>(i);
    entry.first_chunk = table.by.chunks;
    table.by.chunks += static_cast<std::int32_t>(chunks_of(tensors[i]));
    if (static_cast<std::size_t>(table.by.tensors) == Table::kCapacity) send();
  }
  send();
  return launches;
}

}  // namespace

std::int64_t count_chunks(std::span<const TableTensor> tensors) {
  std::int64_t chunks = 0;
  for (const TableTensor& tensor : tensors) chunks += chunks_of(tensor);
  return chunks;
}

Launches table_launches(const Limits& limits, const char* image, const std::string& name,
                        const TableStep& by, std::span<const TableTensor> tensors) {
  std::size_t used = 0;
  for (const TableTensor& tensor : tensors) {
    require(tensor.count >= 0, name.c_str(), "a tensor's count is negative");
    used += tensor.count > 0;
  }
  require(count_chunks(tensors) < std::int64_t{1} << 31, name.c_str(),
          "more than 2^31 chunks of 16384 elements");
  if (used <= SmallTable::kCapacity || limits.parameter_bytes < kLargeParameters)
    return launches_of<SmallTable>(limits, image, name + "_small", by, tensors);
  return launches_of<LargeTable>(limits, image, name + "_large", by, tensors);
}

}  // namespace headway::kernels::cuda
