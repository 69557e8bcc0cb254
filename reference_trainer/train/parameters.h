// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/passes/fold_batch_norm.h"

namespace headway::trainer {

/// Reads the parameters and running statistics of `compiled` that also occur in `wanted`, another
/// graph of the same model. `known`: those that need not be read.
ParameterSet read_parameters(const Graph& graph, const CompiledGraph& compiled, const Graph& wanted,
                             ParameterSet known = {});
/// Writes the parameters of `graph` that `parameters` contains, rounded to their storage format.
/// Others get their initial values of training. Throws Error (bad input), naming the parameter,
/// where one has another number of elements.
void write_parameters(const ParameterSet& parameters, const Graph& graph, CompiledGraph& compiled);
/// The initial values of training; each value has its own random numbers.
ParameterSet initial_parameters(const Graph& graph, std::uint64_t seed);

/// Writes a file in the safetensors format: the length of the header (8 bytes), the header (JSON:
/// type, shape and offset of each tensor), FP32 numbers. The file is written under a temporary name
/// and renamed. Throws Error naming the file.
void write_checkpoint(const std::filesystem::path& path, const Graph& graph,
                      const ParameterSet& parameters);
/// Reads the FP32 tensors of such a file. Throws Error (bad input) naming the file and the fault.
ParameterSet read_checkpoint(const std::filesystem::path& path);

}  // namespace headway::trainer
