// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "analyzer/stats/tables.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

TEST_CASE("the table of tensor cores tells ops that could use them from those that cannot") {
  const test::TextRun run(
      "thread main\n  steps 12\n"
      "    range aten::linear kind=op\n      launch ampere_fp16_s16816gemm_128x128 300us\n"
      "    range aten::bmm kind=op\n      launch ampere_sgemm_128x64_tn 200us\n"
      "    range aten::relu kind=op\n"
      "      launch \"void at::native::vectorized_elementwise_kernel<4, "
      "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)\" 100us\n");
  const Table table = tensor_core_table(run.trace, run.analysis);
  REQUIRE(table.rows.size() == 3);
  auto row = [&](std::string_view op) -> const std::vector<Cell>& {
    return *std::ranges::find_if(
        table.rows, [&](const auto& one) { return std::get<std::string>(one[0]) == op; });
  };
  auto figure = [&](std::string_view op, std::size_t column) {
    return std::get<std::int64_t>(row(op)[column]);
  };
  CHECK(std::get<std::string>(row("aten::linear")[2]) == "uses");
  CHECK(figure("aten::linear", 4) == 300'000);
  CHECK(std::get<std::string>(row("aten::bmm")[2]) == "eligible, does not");
  CHECK(figure("aten::bmm", 5) == 200'000);
  CHECK(std::get<double>(row("aten::bmm")[8]) == 0);
  CHECK(std::get<std::string>(row("aten::relu")[2]) == "not eligible");
  CHECK(figure("aten::relu", 3) == 0);
  CHECK(figure("aten::relu", 7) == 100'000);
  // Most eligible time first.
  CHECK(std::get<std::string>(table.rows.front()[0]) == "aten::linear");
}

}  // namespace headway::analyzer
