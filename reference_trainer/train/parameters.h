// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/passes/fold_batch_norm.h"

namespace headway::trainer {

/// The parameters and running statistics of `compiled`, as far as `wanted`, another graph of the same model, has them.
ParameterSet read_parameters(const Graph& graph, const CompiledGraph& compiled,
                             const Graph& wanted);
/// Writes those of `graph` that `parameters` has, rounded to what they are stored in. Others start as they do in training.
/// Throws Error (bad input), naming the parameter, where one has another number of elements.
void write_parameters(const ParameterSet& parameters, const Graph& graph, CompiledGraph& compiled);
/// As they start in training: each value's from numbers of its own.
ParameterSet initial_parameters(const Graph& graph, std::uint64_t seed);

/// A file in the safetensors format: the length of a header (8 bytes), the header (JSON: type, shape and place of each tensor),
/// FP32 numbers. Written beside its place and renamed. Throws Error naming the file.
void write_checkpoint(const std::filesystem::path& path, const Graph& graph,
                      const ParameterSet& parameters);
/// FP32 tensors of such a file. Throws Error (bad input) naming the file and what is wrong with it.
ParameterSet read_checkpoint(const std::filesystem::path& path);

}  // namespace headway::trainer
