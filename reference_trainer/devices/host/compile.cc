// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/host/compile.h"

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "kernels/cast/op.h"
#include "reference_trainer/devices/host/host_device.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/plan_memory.h"

namespace headway::trainer {
namespace {

using dnnl::memory;

memory::data_type dnnl_type(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return memory::data_type::f32;
    case DataType::kInt32:
      return memory::data_type::s32;
    case DataType::kUint8:
      return memory::data_type::u8;
    case DataType::kInt8:
      return memory::data_type::s8;
  }
  return memory::data_type::undef;
}

/// The dense layout in the order of Shape. oneDNN counts the extents of images as NCHW for any
/// order in memory; NCHW images, filters and values like them have this order in both.
memory::desc dense_layout(const Graph& graph, ValueId id, memory::data_type type) {
  const Value& value = graph.value(id);
  const Value& owner = graph.value(graph.owner(id));
  const Shape& s = value.shape;
  switch (s.rank()) {
    case 1:
      return {{s[0]}, type, memory::format_tag::a};
    case 2:
      return {{s[0], s[1]}, type, memory::format_tag::ab};
    case 4:
      if (owner.is_filter || owner.channels_first)
        return {{s[0], s[1], s[2], s[3]}, type, memory::format_tag::abcd};
      return {{s[0], s[3], s[1], s[2]}, type, memory::format_tag::nhwc};
    default:
      fail_internal("Value '{}': rank {} has no layout.", value.name, s.rank());
  }
}

Work scaled(const Work& work, double share) {
  return {static_cast<std::int64_t>(static_cast<double>(work.flops) * share),
          static_cast<std::int64_t>(static_cast<double>(work.bytes) * share)};
}

memory::desc dense_layout(const Graph& graph, ValueId id) {
  return dense_layout(graph, id, dnnl_type(graph.value(id).type));
}

}  // namespace

HostGraph::HostGraph(HostDevice& device, const Graph& graph, const CompileOptions& options)
    : device_(device),
      graph_(graph),
      options_(options),
      shared_(static_cast<const HostGraph*>(options.share_with)),
      engine_(dnnl::engine::kind::cpu, 0),
      stream_(engine_),
      kernels_(graph.node_count()),
      step_memory_(graph_, options) {
  HEADWAY_INVARIANT(options.kept_copies == 1 ||
                    !(options.raw_allocator || options.keep_activations || options.share_with));
  if (shared_) share_layouts();
  find_used_values();
  add_ops();
  allocate();
  for (const auto& action : when_bound_) action();
  when_bound_.clear();
  // Not earlier: oneDNN zeroes the padding of layouts as soon as it knows an address.
  if (reserved_.begin()) ReservedMemory::give_back(reserved_.begin(), reserved_.bytes());
}

HostGraph::~HostGraph() {
  device_.finish();
}

void HostGraph::share_layouts() {
  for (const auto& [id, layout] : shared_->layouts_) {
    const std::string& name = shared_->graph_.value(id).name;
    for (std::size_t i = 0; i < graph_.value_count(); ++i)
      if (graph_.values()[i].name == name) layouts_[ValueId::from(i)] = layout;
  }
}

void HostGraph::find_used_values() {
  if (!options_.runs.empty()) {
    used_.assign(graph_.value_count(), false);
    for (std::size_t i = 0; i < graph_.node_count(); ++i) {
      if (!options_.runs[i]) continue;
      for (const auto* list : {&graph_.nodes()[i].inputs, &graph_.nodes()[i].outputs})
        for (ValueId value : *list) used_[value.value] = true;
    }
    for (std::size_t i = 0; i < graph_.value_count(); ++i)
      if (graph_.values()[i].role == Role::kInput) used_[i] = true;  // batches are copied there
  }
  if (options_.kept_copies == 1) return;
  kept_.assign(graph_.value_count(), false);
  for (std::size_t i = 0; i < graph_.node_count(); ++i) {
    const Node& node = graph_.nodes()[i];
    if (node.phase != Phase::kBackward || !runs(NodeId::from(i))) continue;
    for (ValueId input : node.inputs)
      if (const NodeId made = graph_.value(input).producer;
          graph_.value(input).role == Role::kActivation && made.valid() &&
          graph_.node(made).phase == Phase::kForward)
        kept_[input.value] = true;
  }
}

void HostGraph::add_ops() {
  for (std::size_t i = 0; i < graph_.node_count(); ++i) {
    scratch_of_node_.push_back(0);
    const NodeId id = NodeId::from(i);
    const OpDefinition* op = graph_.node(id).op;
    if (graph_.node(id).on_processor || !runs(id)) continue;
    const auto found = std::ranges::find(host_ops(), op, &HostOp::op);
    if (found == host_ops().end())
      fail_internal("Op '{}' ({}): the host device does not have it.", graph_.node(id).name,
                    op->type);
    try {
      found->add(*this, id);
    } catch (const dnnl::error& error) {
      fail_internal("Op '{}' ({}): oneDNN cannot run it: {}.", graph_.node(id).name, op->type,
                    error.what());
    }
  }
}

bool HostGraph::has_layout(ValueId value) const {
  return layouts_.contains(graph_.owner(value));
}

memory::desc HostGraph::layout(ValueId value) const {
  const ValueId owner = graph_.owner(value);
  if (auto found = layouts_.find(owner); found != layouts_.end()) return found->second;
  return dense_layout(graph_, value);
}

void HostGraph::set_layout(ValueId value, const memory::desc& layout) {
  layouts_[graph_.owner(value)] = layout;
}

void HostGraph::need_scratch(std::size_t bytes) {
  scratch_of_node_.back() = std::max(scratch_of_node_.back(), static_cast<std::int64_t>(bytes));
}

void HostGraph::add_kernel(NodeId node, HostKernel::Body body, const std::string& part,
                           std::optional<Work> work) {
  const Node& of = graph_.node(node);
  Kernel::Tag tag;
  tag.text = fmt::format("{}{}{} {}", of.op->type, part.empty() ? "" : "/", part, of.name);
  tag.name = nvtx::intern(tag.text);
  tag.op = options_.first_op_id + node.value;
  tag.phase = of.phase;
  tag.work = work ? *work : of.op->work(graph_, of);
  if (options_.share.work) tag.work = scaled(tag.work, options_.share.work(node));
  if (of.results != kernels::NumberFormat::kFloat32) body = rounding(of, std::move(body));
  if (copies() > 1)
    body = [this, body = std::move(body)](const LaunchArguments& arguments) {
      use_copy(arguments.kept);
      body(arguments);
    };
  kernels_[node.value].push_back(std::make_unique<HostKernel>(std::move(tag), std::move(body)));
}

/// Runs the body and then rounds the results to the format in which they would have been written;
/// vectors stay FP32.
HostKernel::Body HostGraph::rounding(const Node& node, HostKernel::Body body) {
  return [this, &node, body = std::move(body)](const LaunchArguments& arguments) {
    body(arguments);
    for (ValueId output : node.outputs) {
      const Value& value = graph_.value(output);
      if (value.type != DataType::kFloat32 || value.shape.rank() < 2) continue;
      kernels::round_to(node.results,
                        static_cast<std::int64_t>(layout(output).get_size() / sizeof(float)),
                        address(output), address(output));
    }
  };
}

std::int64_t HostGraph::bytes_of(ValueId value) const {
  return std::max(graph_.value(value).bytes(), static_cast<std::int64_t>(layout(value).get_size()));
}

void HostGraph::allocate_persistent(ValueId id) {
  const Value& value = graph_.value(id);
  if (!is_used(id)) {
    views_[id.value] = {{nullptr, MemoryKind::kDevice}};
    return;
  }
  const int count = value.role == Role::kInput ? options_.input_slots : 1;
  if (shared_ && (value.role == Role::kParameter || value.role == Role::kState)) {
    views_[id.value] = shared_->views_[shared_->graph_.find(value.name).value];
    return;
  }
  for (int slot = 0; slot < count; ++slot) {
    owned_.push_back(device_.allocate(bytes_of(id), MemoryKind::kDevice));
    memory_bytes_ += owned_.back().bytes();
    views_[id.value].push_back(owned_.back().view());
  }
}

std::int64_t HostGraph::scratch_bytes() const {
  return scratch_of_node_.empty() ? 0 : std::ranges::max(scratch_of_node_);
}

void HostGraph::allocate() {
  views_.resize(graph_.value_count());
  if (step_memory_.raw())
    reserve();
  else
    allocate_planned();
  if (options_.units) allocate_units();
  for (std::size_t i = 0; i < graph_.value_count(); ++i)
    if (views_[i].empty()) allocate_persistent(ValueId::from(i));
}

std::int64_t HostGraph::allocate_block(const std::function<bool(ValueId)>& wanted, int copies) {
  const MemoryPlan plan =
      plan_memory(graph_, [&](ValueId id) { return wanted(id) ? bytes_of(id) : 0; });
  owned_.push_back(device_.allocate(copies * plan.total_bytes, MemoryKind::kDevice));
  auto* const arena = owned_.back().as<std::byte>();
  memory_bytes_ += owned_.back().bytes();
  for (std::size_t i = 0; i < graph_.value_count(); ++i)
    if (plan.offset[i] >= 0 && wanted(ValueId::from(i)) && !options_.keep_activations)
      views_[i] = {{arena + plan.offset[i], MemoryKind::kDevice}};
  return plan.total_bytes;
}

/// Activations share one block, and ops share scratch memory. Activations that a backward pass reads
/// have a separate block for each pass that may be under way. All others are used within one pass:
/// passes run one after the other and share their block.
void HostGraph::allocate_planned() {
  allocate_block([this](ValueId id) { return is_used(id) && !is_kept(id); }, 1);
  if (copies() > 1)
    kept_bytes_ =
        allocate_block([this](ValueId id) { return is_used(id) && is_kept(id); }, copies());
  owned_.push_back(device_.allocate(scratch_bytes(), MemoryKind::kDevice));
  scratch_address_ = owned_.back().view().address;
  memory_bytes_ += owned_.back().bytes();
}

void HostGraph::allocate_units() {
  units_ = UnitMemory(device_, graph_, *options_.units, [&](ValueId id) { return bytes_of(id); });
  memory_bytes_ += units_.bytes();
  for (std::size_t i = 0; i < graph_.value_count(); ++i)
    if (const ValueId id = ValueId::from(i); units_.holds(id)) views_[i] = {units_.view(id)};
}

std::span<float> HostGraph::own_part(ValueId value) const {
  if (units_.holds(value)) return units_.own(value);
  return {address(value), layout(value).get_size() / sizeof(float)};
}

/// Reserves a separate address for every value that is allocated during a step; kernels keep these
/// addresses.
void HostGraph::reserve() {
  auto pages_of = [&](ValueId id) { return ReservedMemory::in_pages(bytes_of(id)); };
  std::int64_t bytes = ReservedMemory::in_pages(scratch_bytes());
  for (std::size_t i = 0; i < graph_.value_count(); ++i)
    if (step_memory_.comes_and_goes(ValueId::from(i))) bytes += pages_of(ValueId::from(i));
  reserved_ = ReservedMemory(bytes);
  scratch_address_ = reserved_.begin();
  std::byte* next = reserved_.begin() + ReservedMemory::in_pages(scratch_bytes());
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    if (!step_memory_.comes_and_goes(ValueId::from(i))) continue;
    views_[i] = {{next, MemoryKind::kDevice}};
    next += pages_of(ValueId::from(i));
  }
}

void HostGraph::allocate_for(NodeId node) {
  if (!step_memory_.raw()) return;
  auto get = [this](void* piece, std::int64_t bytes) {
    if (bytes == 0) return;
    device_.get_pages(piece, bytes);
    memory_bytes_ += bytes;
  };
  step_memory_.begin(
      node, [&](ValueId value) { get(address<void>(value), bytes_of(value)); },
      [&] { get(scratch_address_, scratch_of_node_[node.value]); });
}

void HostGraph::free_after(NodeId node) {
  if (!step_memory_.raw()) return;
  auto give_back = [this](void* piece, std::int64_t bytes) {
    if (bytes == 0) return;
    device_.give_back_pages(piece, bytes);
    memory_bytes_ -= bytes;
  };
  give_back(scratch_address_, scratch_of_node_[node.value]);
  step_memory_.end(node, [&](ValueId value) { give_back(address<void>(value), bytes_of(value)); });
}

MemoryView HostGraph::memory(ValueId value, int slot) const {
  if (is_kept(value)) return kept_memory(value, copy_);
  const auto& views = views_[value.value];
  return views[views.size() > 1 ? static_cast<std::size_t>(slot) : 0];
}

MemoryView HostGraph::kept_memory(ValueId value, int copy) const {
  if (!is_kept(value)) return memory(value);
  MemoryView view = views_[value.value].front();
  view.address = static_cast<std::byte*>(view.address) + copy * kept_bytes_;
  return view;
}

void HostGraph::write(ValueId id, std::span<const float> values) {
  const Value& value = graph_.value(id);
  HEADWAY_INVARIANT(static_cast<std::int64_t>(values.size()) == value.shape.elements());
  device_.synchronize();
  dnnl::memory from(dense_layout(graph_, id, memory::data_type::f32), engine_,
                    const_cast<float*>(values.data()));
  const bool in_part = units_.holds(id);
  dnnl::memory to =
      in_part ? dnnl::memory(layout(id), engine_) : dnnl::memory(layout(id), engine_, address(id));
  dnnl::reorder(from, to).execute(stream_, from, to);
  stream_.wait();
  if (in_part) units_.write_own(id, static_cast<const float*>(to.get_data_handle()));
}

std::vector<float> HostGraph::read(ValueId id) const {
  const Value& value = graph_.value(id);
  if (units_.holds(id) && !units_.has_whole(id))
    fail_internal("Value '{}' cannot be read: this rank has only its part.", value.name);
  std::vector<float> values(static_cast<std::size_t>(value.shape.elements()));
  device_.synchronize();
  dnnl::memory from(layout(id), engine_, address(id));
  dnnl::memory to(dense_layout(graph_, id, memory::data_type::f32), engine_, values.data());
  dnnl::reorder(from, to).execute(stream_, from, to);
  stream_.wait();
  return values;
}

std::unique_ptr<CompiledGraph> compile_for_host(HostDevice& device, const Graph& graph,
                                                const CompileOptions& options) {
  return std::make_unique<HostGraph>(device, graph, options);
}

}  // namespace headway::trainer
