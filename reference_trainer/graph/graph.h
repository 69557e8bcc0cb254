// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "common/ids.h"
#include "common/nvtx_conventions.h"
#include "kernels/adam/op.h"
#include "kernels/attention/op.h"
#include "kernels/batch_norm/op.h"
#include "kernels/box_match/op.h"
#include "kernels/decode/op.h"
#include "kernels/experts/op.h"
#include "kernels/lstm/op.h"
#include "kernels/max_pool/op.h"
#include "kernels/multibox/op.h"
#include "kernels/row_program/op.h"
#include "kernels/simota/op.h"
#include "kernels/work.h"
#include "reference_trainer/graph/shape.h"
#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using conventions::Phase;
using kernels::Work;

enum class DataType : std::uint8_t { kFloat32, kInt32, kUint8, kInt8 };
constexpr std::int64_t size_of(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8 ? 1 : 4;
}

/// The lifetime of a value, and who writes it.
enum class Role : std::uint8_t {
  kInput,       ///< a batch: copies from the host write it, one buffer per slot
  kParameter,   ///< trained; lives as long as the model
  kState,       ///< kept from step to step: running statistics, momentum
  kActivation,  ///< made and used inside one step; its memory is shared (passes/plan_memory.h)
  kResult,      ///< read by the host after the step: the loss figures
};

/// The initial content of a parameter or state.
struct Initial {
  enum class Kind : std::uint8_t { kConstant, kNormal } kind = Kind::kConstant;
  float value = 0;  ///< the constant, or the standard deviation
};

/// The part of a whole matrix that is a rank's parameter, where ranks share the matrix: the same
/// rows of each of `blocks` equal blocks of rows, and some of the columns. Its initial content is
/// that part of the whole's initial content.
struct PartOfWhole {
  std::int64_t rows = 0;  ///< of the whole; 0: the parameter is not a part
  std::int64_t columns = 0;
  std::int64_t blocks = 1;
  std::int64_t first_row = 0;  ///< within each block
  std::int64_t first_column = 0;

  bool valid() const { return rows > 0; }
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
  PartOfWhole part = {};
  bool copies_parameter = false;  ///< its initial content is that of `like`: a master copy
  /// For a parameter: each rank has only the gradient of its own tokens, so gradients are summed
  /// over ranks (sequence parallelism).
  bool sum_over_ranks = false;
  bool is_filter = false;  ///< filter of a convolution: extents are OIHW, not NHWC
  /// Images are NCHW (also the order of `shape`); a filter belongs to convolutions of such images.
  bool channels_first = false;

  /// The storage format of a parameter that nothing updates, and of a cache.
  kernels::NumberFormat stored = kernels::NumberFormat::kFloat32;

  std::int64_t bytes() const { return shape.elements() * size_of(type); }
};

struct NoAttributes {};
struct ConvolutionAttributes {
  int stride = 1;
  int padding = 0;              ///< the same on all sides
  bool channels_first = false;  ///< x and y are NCHW
};
struct BatchNormAttributes {
  kernels::Epilogue epilogue = kernels::Epilogue::kNone;
  float epsilon = 1e-5F;
  float momentum = 0.1F;  ///< weight of the batch in the running statistics
  bool training = true;
};
enum class Activation : std::uint8_t { kNone, kRelu, kGelu };
/// A product of an inference graph with the ops fused into it (passes/fuse_epilogues.h), and how
/// its operands are quantised (passes/quantise.h). A scale is the number that the integer 1 stands
/// for; 0: the operand is not an integer.
struct FusedProductAttributes {
  ConvolutionAttributes convolution;  ///< for conv2d_fused
  Activation activation = Activation::kNone;
  bool residual = false;  ///< the last input is added before the activation
  float input_scale = 0;
  float residual_scale = 0;
  float output_scale = 0;
  std::shared_ptr<const std::vector<float>> weight_scales = {};  ///< by output channel

  bool is_int8() const { return input_scale > 0; }
};
struct QuantiseAttributes {
  float scale = 1;
};
/// One elementwise op: an instruction of a row program without its operands.
struct RowAttributes {
  kernels::RowOp op = kernels::RowOp::kAdd;
  float constant = 0;
  std::uint32_t key = 0;
  kernels::NumberFormat format = kernels::NumberFormat::kFloat32;
};
struct EmbeddingAttributes {
  std::int64_t length = 1;  ///< tokens of a sequence
};
struct LayerNormAttributes {
  float epsilon = 1e-5F;
};
/// Moves the rows of each of `batch` sequences of `length` by `shift`.
struct RollAttributes {
  std::int64_t batch = 0;
  std::int64_t length = 0;
  std::int64_t shift = 0;
};
/// Reorders rows by exchanging two indices.
struct SwapAttributes {
  std::int64_t outer = 0;
  std::int64_t inner = 0;
};
/// How ranks that share a layer of a model exchange a tensor (comm/model_exchanges.h).
enum class ExchangeKind : std::uint8_t {
  kAllToAll,  ///< sends the n-th equal part to the n-th rank, and receives that rank's part
  kNothing,   ///< forward: no exchange, every rank has the tensor; backward: sum of all gradients
  kSum,       ///< forward: sum over the ranks; backward: every rank has the same gradient
  kGather,    ///< forward: parts of all ranks in rank order; backward: own part of the gradient sum
  kJoin,      ///< forward: as kGather; backward: own part only, as all ranks compute the same
  kScatterSum,  ///< forward: sum, of which only the own part is valid; kOwnPart takes it
  kOwnPart,     ///< forward: own part, no exchange; backward: gathers the gradients of all parts
  kStage,  ///< forward: goes to the next stage of a pipeline; backward: its gradient comes back
};
/// Whether all ranks exchange data in the forward pass.
constexpr bool is_collective(ExchangeKind kind) {
  return kind != ExchangeKind::kNothing && kind != ExchangeKind::kOwnPart &&
         kind != ExchangeKind::kStage;
}
struct ExchangeAttributes {
  ExchangeKind kind = ExchangeKind::kAllToAll;
  std::int64_t layer = -1;  ///< layer of experts whose tokens it carries; -1: none
  std::int64_t ranks = 1;   ///< for kinds with parts
  std::int64_t rank = 0;
};
/// A router's choice (kernels/experts/op.h).
struct RouteAttributes {
  kernels::RouteShape shape;
  /// Ranks that share the experts. An expert gets tokens from all ranks, and so the sum of the
  /// gradients of their losses. Therefore the gradients are divided by the number of ranks between
  /// combine and dispatch of the backward pass.
  std::int64_t ranks = 1;
  std::shared_ptr<const std::vector<float>> favour = {};  ///< by expert; null: no preference
};
/// Attributes of ops that generate one token after another.
struct DecodeAttributes {
  kernels::DecodeShape shape = {};
  std::int64_t position =
      -1;  ///< of the row taken from each sequence; -1: LaunchArguments::position
};
struct LstmAttributes {
  kernels::LstmShape shape;
  bool persistent = true;        ///< one kernel for all time steps
  std::int64_t first_token = 0;  ///< the layer's first token among those of the batch
};
struct BoxMatchAttributes {
  kernels::BoxMatchShape shape;
  std::shared_ptr<const std::vector<float>> anchors;  ///< [anchors][4]
  bool per_sample = false;                            ///< separate kernels for every image
};
struct SimotaAttributes {
  kernels::SimotaShape shape;
  std::shared_ptr<const std::vector<float>> anchors;  ///< [anchors][4]
  std::shared_ptr<const std::vector<float>> regions;  ///< [anchors][4]
  bool per_sample = false;                            ///< separate kernels for every image

  /// Images of one kernel.
  std::int64_t images_at_once() const { return per_sample ? 1 : shape.match.images; }
};
enum class OptimizerKind : std::uint8_t { kSgd, kAdam, kLamb, kLars };
struct OptimizerAttributes {
  OptimizerKind kind = OptimizerKind::kSgd;
  OptimizerFusion fusion = OptimizerFusion::kMultiTensor;
  float momentum = 0.9F;  ///< SGD and LARS
  float decay = 0;
  float beta1 = 0.9F;  ///< Adam and LAMB
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float trust = 0.001F;  ///< LARS
  /// Storage format of parameters that have a master copy in FP32; kFloat32: no copy.
  kernels::NumberFormat format = kernels::NumberFormat::kFloat32;
  bool loss_scale = false;  ///< gradients are multiplied by the loss scale

  /// The last input of every update is the kernels::OptimizerState.
  bool has_state() const {
    return loss_scale || kind == OptimizerKind::kAdam || kind == OptimizerKind::kLamb;
  }
  bool has_master() const { return format != kernels::NumberFormat::kFloat32; }
};
using Attributes =
    std::variant<NoAttributes, ConvolutionAttributes, BatchNormAttributes, FusedProductAttributes,
                 QuantiseAttributes, RowAttributes, kernels::RowProgram, EmbeddingAttributes,
                 LayerNormAttributes, kernels::AttentionShape, kernels::BatchedMatmul,
                 kernels::MaxPoolShape, kernels::MultiboxShape, BoxMatchAttributes,
                 SimotaAttributes, RollAttributes, SwapAttributes, ExchangeAttributes,
                 RouteAttributes, DecodeAttributes, LstmAttributes, OptimizerAttributes>;

struct OpDefinition;  // op_definition.h

/// One op of the model. Nodes are kept in execution order.
struct Node {
  const OpDefinition* op = nullptr;
  std::string name;  ///< "layer1.0.conv1"
  Phase phase = Phase::kForward;
  NodeId forward;  ///< for a backward or update op: its forward op
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
  /// Floating-point results are rounded to this format when they are written (mixed precision).
  kernels::NumberFormat results = kernels::NumberFormat::kFloat32;
  /// The op has no kernels: its operands are copied to the processor, which computes it, and its
  /// results are copied back (OpDefinition::on_processor).
  bool on_processor = false;
};

/// A model as a list of ops over values, in execution order. It is plain data without a device;
/// ops/ defines its meaning, passes/ rewrite it. Not thread safe while it is built.
class Graph {
 public:
  ValueId add_value(Value value);
  /// Appends a node, whose outputs must have been added before, and sets their producer.
  NodeId add_node(Node node);

  const Value& value(ValueId id) const { return values_[id.value]; }
  Value& value(ValueId id) { return values_[id.value]; }
  /// The last value in the chain of `like` from `id`. Its `is_filter` and `channels_first` hold for
  /// all values in the chain.
  ValueId owner(ValueId id) const;
  const Node& node(NodeId id) const { return nodes_[id.value]; }
  std::size_t value_count() const { return values_.size(); }
  std::size_t node_count() const { return nodes_.size(); }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& values() const { return values_; }
  /// The value with this name; fails (internal error) when there is none.
  ValueId find(std::string_view name) const;

  /// Nodes that read `id`, in order.
  std::vector<NodeId> consumers(ValueId id) const;
  /// Replaces all nodes, after a pass has rewritten them, and sets every producer again.
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
