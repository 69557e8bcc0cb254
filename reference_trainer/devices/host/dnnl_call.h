// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "reference_trainer/devices/host/compile.h"

namespace headway::trainer {

/// One oneDNN primitive with its operands, made once and run every step. Its memory objects are
/// made when the graph's memory is allocated, one set per input slot and copy of kept activations.
class DnnlCall {
 public:
  struct Operand {
    int argument;  ///< DNNL_ARG_*
    ValueId value;
    dnnl::memory::desc layout;
  };

  /// `scratchpad` is the size that the primitive's descriptor asks for.
  static std::shared_ptr<DnnlCall> make(HostGraph& graph, dnnl::primitive primitive,
                                        std::vector<Operand> operands,
                                        const dnnl::memory::desc& scratchpad);

  /// Use for a value whose layout differs from the wanted one: it is reordered into separate memory
  /// before every run.
  void reorder_before(int argument, ValueId value, const dnnl::memory::desc& wanted);
  /// Use for a result whose layout differs from the value's: it is reordered after every run.
  void reorder_after(int argument, ValueId value, const dnnl::memory::desc& made);

  /// Adds an operand that is no value of the graph, at `address`, which must stay valid.
  void lend(int argument, const dnnl::memory::desc& layout, void* address) {
    lent_.push_back({argument, layout, address});
  }

  /// Runs with the operands of that input slot and the graph's current copy. Throws what oneDNN
  /// throws.
  void run(int slot) const;

  /// Attributes for every primitive: scratch memory is the graph's, because oneDNN's own belongs to
  /// the thread that made the primitive.
  static dnnl::primitive_attr attributes();

 private:
  struct Reorder {
    int argument;
    ValueId value;
    dnnl::memory::desc other;         ///< the layout that the primitive wants or makes
    std::vector<dnnl::memory> plain;  ///< in the value's layout, by copy
    dnnl::memory reordered;
    dnnl::reorder primitive;
  };
  struct Lent {
    int argument;
    dnnl::memory::desc layout;
    void* address;
  };
  using Arguments = std::unordered_map<int, dnnl::memory>;

  DnnlCall(HostGraph& graph, dnnl::primitive primitive, std::vector<Operand> operands)
      : graph_(graph), primitive_(std::move(primitive)), operands_(std::move(operands)) {}
  void bind(const dnnl::memory::desc& scratchpad);
  /// Binds the operands of the graph's current copy.
  void bind_copy(const dnnl::memory::desc& scratchpad);

  HostGraph& graph_;
  dnnl::primitive primitive_;
  std::vector<Operand> operands_;
  std::vector<Lent> lent_;
  std::vector<Reorder> before_;
  std::vector<Reorder> after_;
  std::vector<Arguments> arguments_;  // by copy, then slot
};

}  // namespace headway::trainer
