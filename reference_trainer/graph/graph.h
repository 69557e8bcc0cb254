// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/ids.h"
#include "common/nvtx_conventions.h"
#include "kernels/batch_norm.h"
#include "kernels/work.h"
#include "reference_trainer/graph/shape.h"

namespace headway::trainer {

using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using conventions::Phase;
using kernels::Work;

enum class DataType : std::uint8_t { kFloat32, kInt32, kUint8 };
constexpr std::int64_t size_of(DataType type) {
  return type == DataType::kUint8 ? 1 : 4;
}

/// How long a value lives and who fills it.
enum class Role : std::uint8_t {
  kInput,       ///< a batch: written by copies from the host, one buffer per slot
  kParameter,   ///< trained; lives as long as the model
  kState,       ///< kept from step to step: running statistics, momentum
  kActivation,  ///< made and used inside one step; its memory is shared (passes/plan_memory.h)
  kResult,      ///< read by the host after the step: the loss figures
};

/// How a parameter or state starts.
struct Initial {
  enum class Kind : std::uint8_t { kConstant, kNormal } kind = Kind::kConstant;
  float value = 0;  ///< the constant, or the standard deviation
};

/// One tensor of the graph.
struct Value {
  std::string name;
  Shape shape;
  DataType type = DataType::kFloat32;
  Role role = Role::kActivation;
  NodeId producer;  ///< none for inputs, parameters and state
  ValueId like;     ///< shares the device layout of that value (gradient and momentum of a weight)
  Initial initial;
  bool is_filter = false;  ///< of a convolution: its extents are OIHW, not NHWC

  std::int64_t bytes() const { return shape.elements() * size_of(type); }
};

struct NoAttributes {};
struct ConvolutionAttributes {
  int stride = 1;
  int padding = 0;  ///< same on all sides
};
struct BatchNormAttributes {
  kernels::Epilogue epilogue = kernels::Epilogue::kNone;
  float epsilon = 1e-5F;
  float momentum = 0.1F;  ///< weight of the batch in the running statistics
  bool training = true;
};
/// How the optimizer's update of a parameter is cut into kernels.
enum class OptimizerFusion : std::uint8_t { kOff, kParameter, kMultiTensor };
struct SgdAttributes {
  OptimizerFusion fusion = OptimizerFusion::kMultiTensor;
  float momentum = 0.9F;
  float decay = 0;
};
using Attributes =
    std::variant<NoAttributes, ConvolutionAttributes, BatchNormAttributes, SgdAttributes>;

struct OpDefinition;  // ops/op.h

/// One op of the model. Nodes are kept in execution order.
struct Node {
  const OpDefinition* op = nullptr;
  std::string name;  ///< "layer1.0.conv1"
  Phase phase = Phase::kForward;
  NodeId forward;  ///< of a backward or update op: the forward op it belongs to
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
};

/// A model as a list of ops over values: what runs, on what, in which order. Plain data without a
/// device; ops/ gives it meaning, passes/ rewrite it. Not thread safe while it is built.
class Graph {
 public:
  ValueId add_value(Value value);
  /// Appends a node whose outputs were added before; sets their producer.
  NodeId add_node(Node node);

  const Value& value(ValueId id) const { return values_[id.value]; }
  Value& value(ValueId id) { return values_[id.value]; }
  const Node& node(NodeId id) const { return nodes_[id.value]; }
  std::size_t value_count() const { return values_.size(); }
  std::size_t node_count() const { return nodes_.size(); }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& values() const { return values_; }
  /// The value called `name`; fails (internal error) when there is none.
  ValueId find(std::string_view name) const;

  /// Nodes that read `id`, in order.
  std::vector<NodeId> consumers(ValueId id) const;
  /// Replaces all nodes (a pass has rewritten them) and sets every producer again.
  void replace_nodes(std::vector<Node> nodes);
  /// Parameters in order of creation.
  std::vector<ValueId> parameters() const;

 private:
  std::vector<Node> nodes_;
  std::vector<Value> values_;
};

/// One line per node: "12 forward conv2d layer1.0.conv1 (x, w) -> 32x28x28x16  57.8 MFLOP  3.2 MB".
std::string describe(const Graph& graph);

}  // namespace headway::trainer
