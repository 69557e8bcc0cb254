// SPDX-License-Identifier: MIT
#include "kernels/row_program/launch_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "kernels/cuda/flat.h"
#include "kernels/row_program/launch_expression.h"
#include "kernels/row_program/launch_structure.h"

namespace headway::kernels::cuda {
namespace {

constexpr int kWarp = 32;
/// Largest number of elements of a row per thread of a group, and of floats that it keeps from sum
/// to sum: with more, values would spill to local memory.
constexpr std::int64_t kMostElements = 32;
constexpr std::int64_t kMostHeld = 64;

int packs_of(std::int64_t columns, int pack, int group) {
  const std::int64_t each = std::int64_t{pack} * group;
  return static_cast<int>((columns + each - 1) / each);
}

/// FNV-1a.
std::uint64_t hash(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

/// Writes the text, piece by piece. In it, v3 is value 3 of the row or of an element, x3 an input
/// and y3 an output of a pack, s3 a thread's share of sum 3; `at` is a pack's first element in full
/// arrays.
class RowCodeWriter {
 public:
  RowCodeWriter(const RowProgram& program, std::span<const NumberFormat> inputs,
                std::span<const NumberFormat> outputs, const RowCodePlan& plan)
      : program_(program),
        structure_(program),
        input_formats_(inputs),
        output_formats_(outputs),
        plan_(plan),
        held_(structure_.values(), false) {
    if (plan_.held > 0) held_ = structure_.needed_again();
  }

  RowCode write() {
    write_parameters();
    std::string before;
    if (plan_.group == 0) {
      write_pack_function();
      before = std::exchange(text_, {});
      write_elements();
    } else {
      before = std::exchange(text_, {});
      write_rows();
    }
    RowCode code;
    code.kernel = fmt::format("{}_{:016x}", words(), hash(before + text_));
    code.text = fmt::format(
        "#include \"kernels/cuda/row_arithmetic.cuh\"\n\nnamespace headway::kernels::cuda "
        "{{\n\n{}\n"
        "HEADWAY_KERNEL({}, {}, Parameters) {{\n{}}}\n\n}}  // namespace headway::kernels::cuda\n",
        before, code.kernel, kFlatThreads, text_);
    return code;
  }

 private:
  template <class... Args>
  void line(int indent, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * static_cast<std::size_t>(indent), ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void line_unroll() { text_ += "#pragma unroll\n"; }

  /// "fused_add_gelu" or "elementwise_gelu": describes the kernel to people and to tools that
  /// classify kernels by name.
  std::string words() const {
    constexpr int kMost = 4;
    std::string text;
    int count = 0;
    for (const RowInstruction& by : program_.instructions)
      if (by.op != RowOp::kRound && ++count <= kMost) text += fmt::format("_{}", word_of(by.op));
    if (count == 0) return "elementwise_round";
    if (count > kMost) text += fmt::format("_and_{}", count - kMost);
    return (count == 1 ? "elementwise" : "fused") + text;
  }

  void write_parameters() {
    line(0, "struct Parameters {{");
    line(1, "std::int64_t rows;");
    for (std::size_t i = 0; i < input_formats_.size(); ++i)
      line(1, "const {}* in{};", type_of(input_formats_[i]), i);
    for (std::size_t i = 0; i < output_formats_.size(); ++i)
      line(1, "{}* out{};", type_of(output_formats_[i]), program_.outputs[i]);
    for (std::size_t i = structure_.inputs(); i < structure_.values(); ++i)
      if (structure_.instruction(i).op == RowOp::kDropout) line(1, "std::uint32_t key{};", i);
    line(0, "}};");
  }

  std::string expression(std::size_t value, const char* element) const {
    return row_expression(structure_.instruction(value), value, element);
  }

  /// Writes the arithmetic on per-row values that a level makes possible, and the stores of those
  /// that are outputs.
  void write_row_values(int indent, int level, const char* writes) {
    for (std::size_t i = 0; i < structure_.values(); ++i) {
      if (structure_.kind(i) != RowKind::kPerRow || structure_.level(i) != level) continue;
      if (structure_.is_input(i))
        line(indent, "const float v{} = to_float(a.in{}[row]);", i, i);
      else if (!structure_.is_sum(i))
        line(indent, "const float v{} = {};", i, expression(i, "row * kColumns"));
      if (structure_.is_output(i) && !structure_.is_input(i))
        line(indent, "if ({}) a.out{}[row] = from_float<{}>(v{});", writes, i, output_type(i), i);
    }
  }

  const char* output_type(std::size_t value) const {
    const auto place = std::ranges::find(program_.outputs, static_cast<int>(value));
    return type_of(output_formats_[static_cast<std::size_t>(place - program_.outputs.begin())]);
  }

  /// Writes a sweep's code for the pack of `kCount` elements at `at`, `column`, from loads to
  /// stores.
  void write_pack(int indent, int sweep) {
    const std::vector<bool> needed = structure_.needed(sweep);
    const auto sums = structure_.sums(sweep);
    const bool last = sweep > structure_.sum_sweeps();
    auto place = [&](std::size_t i) {
      return structure_.kind(i) == RowKind::kFull ? "at" : "column";
    };
    auto written = [&](std::size_t i) {
      return last && needed[i] && !structure_.is_input(i) && structure_.is_output(i);
    };
    for (std::size_t i = 0; i < structure_.inputs(); ++i) {
      if (!needed[i] || held_[i]) continue;
      line(indent, "float x{}[kCount];", i);
      line(indent, "load_pack(a.in{} + {}, x{});", i, place(i), i);
    }
    for (std::size_t i = 0; i < structure_.values(); ++i)
      if (written(i)) line(indent, "float y{}[kCount];", i);
    line_unroll();
    line(indent, "for (int k = 0; k < kCount; ++k) {{");
    for (std::size_t i = 0; i < structure_.values(); ++i) {
      if (!needed[i]) continue;
      if (structure_.is_input(i))
        line(indent + 1, "const float v{} = x{}{}[k];", i, i, held_[i] ? "[j]" : "");
      else
        line(indent + 1, "const float v{} = {};", i, expression(i, "at + k"));
      if (written(i)) line(indent + 1, "y{}[k] = v{};", i, i);
    }
    for (std::size_t i : sums)
      line(indent + 1, "s{} = row_add(s{}, v{});", i, i, structure_.instruction(i).a);
    line(indent, "}}");
    for (std::size_t i = 0; i < structure_.values(); ++i)
      if (written(i))
        line(indent, "{}store_pack(a.out{} + {}, y{});",
             structure_.kind(i) == RowKind::kPerColumn ? "if (row == 0) " : "", i, place(i), i);
  }

  void write_pack_function() {
    line(0, "");
    line(0, "template <int kCount>");
    line(0, "__device__ __forceinline__ void pack_at(const Parameters& a, std::int64_t at) {{");
    if (!program_.is_flat()) {
      line(1, "constexpr std::int64_t kColumns = {};", program_.columns);
      line(1, "const std::int64_t row = at / kColumns;");
      line(1, "const std::int64_t column = at - row * kColumns;");
      write_row_values(1, 0, "column == 0");
    }
    write_pack(1, 1);
    line(0, "}}");
  }

  /// For programs without sums along rows: packs one after the other, and for a flat program the
  /// remainder at its end.
  void write_elements() {
    const bool flat = program_.is_flat();
    if (flat)
      line(1, "const std::int64_t count = a.rows;");
    else
      line(1, "const std::int64_t count = a.rows * {};", program_.columns);
    line(1, "const std::int64_t packs = count / {};", plan_.pack);
    line(1, "for (std::int64_t i = global_thread(); i < packs; i += global_threads())");
    line(2, "pack_at<{}>(a, i * {});", plan_.pack, plan_.pack);
    if (!flat || plan_.pack == 1) return;
    line(1, "for (std::int64_t i = packs * {} + global_thread(); i < count; i += global_threads())",
         plan_.pack);
    line(2, "pack_at<1>(a, i);");
  }

  /// Opens the loop over a thread's packs of a row; its body follows, with an indent of 4.
  void open_packs() {
    if (plan_.held > 0) line_unroll();
    line(2, "for (int j = 0; j < {}; ++j) {{", packs_of(program_.columns, plan_.pack, plan_.group));
    line(3, "const int column = (j * {} + thread) * kCount;", plan_.group);
    line(3, "const std::int64_t at = row * kColumns + column;");
    line(3, "if (column < kColumns) {{");
  }
  void close_packs() {
    line(3, "}}");
    line(2, "}}");
  }

  /// For programs with sums: a group of threads has one row at a time.
  void write_rows() {
    const int groups = static_cast<int>(kFlatThreads) / plan_.group;
    line(1, "constexpr int kCount = {};", plan_.pack);
    line(1, "constexpr std::int64_t kColumns = {};", program_.columns);
    line(1, "const int thread = static_cast<int>(threadIdx.x) % {};", plan_.group);
    line(1, "const std::int64_t groups = static_cast<std::int64_t>(gridDim.x) * {};", groups);
    line(1, "for (std::int64_t row = global_thread() / {}; row < a.rows; row += groups) {{",
         plan_.group);
    write_row_values(2, 0, "thread == 0");
    write_held();
    for (int sweep = 1; sweep <= structure_.sum_sweeps(); ++sweep) {
      for (std::size_t i : structure_.sums(sweep)) line(2, "float s{} = 0;", i);
      open_packs();
      write_pack(4, sweep);
      close_packs();
      for (std::size_t i : structure_.sums(sweep))
        line(2, "const float v{} = group_sum<{}>(s{}){};", i, plan_.group, i,
             structure_.instruction(i).op == RowOp::kRowSum
                 ? std::string()
                 : " / " + literal(static_cast<float>(program_.columns)));
      write_row_values(2, sweep, "thread == 0");
    }
    if (structure_.writes_columns()) {
      open_packs();
      write_pack(4, structure_.sum_sweeps() + 1);
      close_packs();
    }
    line(1, "}}");
  }

  void write_held() {
    if (plan_.held == 0) return;
    for (std::size_t i = 0; i < structure_.inputs(); ++i)
      if (held_[i]) line(2, "float x{}[{}][kCount];", i, plan_.held);
    open_packs();
    for (std::size_t i = 0; i < structure_.inputs(); ++i)
      if (held_[i]) line(4, "load_pack(a.in{} + at, x{}[j]);", i, i);
    close_packs();
  }

  const RowProgram& program_;
  const RowStructure structure_;
  const std::span<const NumberFormat> input_formats_;
  const std::span<const NumberFormat> output_formats_;
  const RowCodePlan plan_;
  std::vector<bool> held_;
  std::string text_;
};

}  // namespace

RowCodePlan plan_row_code(const RowProgram& program, bool aligned) {
  const RowStructure structure(program);
  RowCodePlan plan;
  plan.pack = aligned ? kFlatPack : 1;
  if (program.is_flat()) return plan;
  const bool sums = structure.sum_sweeps() > 0;
  // A pack lies within a row; where a warp shares the row, every thread has at least one.
  while (plan.pack > 1 &&
         (program.columns % plan.pack != 0 || (sums && program.columns / plan.pack < kWarp)))
    plan.pack /= 2;
  if (!sums) return plan;
  const std::int64_t again = std::ranges::count(structure.needed_again(), true);
  for (const int group : {kWarp, static_cast<int>(kFlatThreads)}) {
    plan.group = group;
    const int packs = packs_of(program.columns, plan.pack, group);
    const std::int64_t elements = std::int64_t{packs} * plan.pack;
    plan.held = again > 0 && elements * again <= kMostHeld ? packs : 0;
    if (elements <= kMostElements && (again == 0 || plan.held > 0)) break;
  }
  return plan;
}

RowCode row_code(const RowProgram& program, std::span<const NumberFormat> inputs,
                 std::span<const NumberFormat> outputs, const RowCodePlan& plan) {
  return RowCodeWriter(program, inputs, outputs, plan).write();
}

}  // namespace headway::kernels::cuda
