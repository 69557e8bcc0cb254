// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/host/dnnl_call.h"

namespace headway::trainer {

std::shared_ptr<DnnlCall> DnnlCall::make(HostGraph& graph, dnnl::primitive primitive,
                                         std::vector<Operand> operands,
                                         const dnnl::memory::desc& scratchpad) {
  std::shared_ptr<DnnlCall> call(new DnnlCall(graph, std::move(primitive), std::move(operands)));
  graph.need_scratch(scratchpad.get_size());
  graph.when_bound([call, scratchpad] { call->bind(scratchpad); });
  return call;
}

dnnl::primitive_attr DnnlCall::attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void DnnlCall::reorder_before(int argument, ValueId value, const dnnl::memory::desc& wanted) {
  before_.push_back({argument, value, wanted, {}, {}, {}});
}

void DnnlCall::reorder_after(int argument, ValueId value, const dnnl::memory::desc& made) {
  after_.push_back({argument, value, made, {}, {}, {}});
}

void DnnlCall::bind(const dnnl::memory::desc& scratchpad) {
  for (int copy = 0; copy < graph_.copies(); ++copy) {
    graph_.use_copy(copy);
    bind_copy(scratchpad);
  }
  graph_.use_copy(0);
}

void DnnlCall::bind_copy(const dnnl::memory::desc& scratchpad) {
  const dnnl::engine& engine = graph_.engine();
  Arguments common;
  if (scratchpad.get_size() > 0)
    common.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(scratchpad, engine, graph_.scratch()));
  for (const Lent& lent : lent_)
    common.emplace(lent.argument, dnnl::memory(lent.layout, engine, lent.address));
  for (auto* list : {&before_, &after_}) {
    for (Reorder& reorder : *list) {
      reorder.plain.emplace_back(graph_.layout(reorder.value), engine,
                                 graph_.address(reorder.value));
      const dnnl::memory& plain = reorder.plain.back();
      if (!reorder.reordered) reorder.reordered = dnnl::memory(reorder.other, engine);
      reorder.primitive = list == &before_ ? dnnl::reorder(plain, reorder.reordered)
                                           : dnnl::reorder(reorder.reordered, plain);
      common.emplace(reorder.argument, reorder.reordered);
    }
  }
  for (int slot = 0; slot < graph_.slots(); ++slot) {
    Arguments arguments = common;
    for (const Operand& operand : operands_)
      arguments.emplace(operand.argument,
                        dnnl::memory(operand.layout, engine, graph_.address(operand.value, slot)));
    arguments_.push_back(std::move(arguments));
  }
}

void DnnlCall::run(int slot) const {
  dnnl::stream& stream = graph_.stream();
  const auto copy = static_cast<std::size_t>(graph_.copy());
  const auto slots = static_cast<std::size_t>(graph_.slots());
  for (const Reorder& reorder : before_)
    reorder.primitive.execute(
        stream, {{DNNL_ARG_FROM, reorder.plain[copy]}, {DNNL_ARG_TO, reorder.reordered}});
  primitive_.execute(stream, arguments_[copy * slots + static_cast<std::size_t>(slot)]);
  for (const Reorder& reorder : after_)
    reorder.primitive.execute(
        stream, {{DNNL_ARG_FROM, reorder.reordered}, {DNNL_ARG_TO, reorder.plain[copy]}});
}

}  // namespace headway::trainer
