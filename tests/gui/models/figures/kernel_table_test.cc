// SPDX-License-Identifier: MIT
#include "gui/models/figures/kernel_table.h"

#include <doctest/doctest.h>

#include "gui/models/tables/copy_table.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

const std::vector<analyzer::Cell>* row(const LinkedTable& table, std::string_view name) {
  for (const auto& one : table.table.rows) {
    if (std::get<std::string>(one[0]) == name) return &one;
  }
  return nullptr;
}

template <class T>
T cell(const LinkedTable& table, std::string_view name, std::string_view column) {
  REQUIRE(table.column(column) >= 0);
  return std::get<T>((*row(table, name))[static_cast<std::size_t>(table.column(column))]);
}

}  // namespace

TEST_CASE("kernels are summed by name, copies left out, and lead to the longest") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 1, 10, 30, {.name = "gemm", .bytes = 2000, .flops = 40'000});
  builder.launch(1, 2, 3, 40, 100, {.name = "gemm", .bytes = 6000, .flops = 40'000});
  builder.launch(1, 4, 5, 110, 120, {.name = "relu"});
  builder.launch(1, 6, 7, 130, 190,
                 {.name = "copy", .kind = trace::DeviceOpKind::kCopyHostToDevice});
  auto session = test::session_of(builder);
  LinkedTable table =
      make_kernel_table(session->trace, session->analysis, KernelGrouping::kName, Scope::kWhole);
  REQUIRE(table.table.rows.size() == 2);
  CHECK(cell<std::int64_t>(table, "gemm", "count") == 2);
  CHECK(cell<std::int64_t>(table, "gemm", "total_ns") == 80);
  CHECK(cell<std::int64_t>(table, "gemm", "min_ns") == 20);
  CHECK(cell<double>(table, "gemm", "share") == doctest::Approx(80.0 / 90));
  CHECK(cell<double>(table, "gemm", "bytes_per_s") == doctest::Approx(1e11));
  CHECK(cell<double>(table, "gemm", "flop_per_s") == doctest::Approx(1e12));
  CHECK(session->timeline.interval_of(table.links[0]).length() == DurationNs{60});
  CHECK(table.keys[0] == "gemm");
  // Blocks were not recorded.
  CHECK(table.column("blocks") == -1);
}

TEST_CASE("every grouping sums to the kernel time of the steady steps") {
  auto session = test::training_session();
  DurationNs expected;
  std::int64_t kernels = 0;
  visit_ops(session->trace, session->analysis, Scope::kSteady, [&](trace::DeviceOpId op) {
    if (session->trace.device_ops.kind[op.value] != trace::DeviceOpKind::kKernel) return;
    expected += session->trace.device_ops.interval(op).length();
    ++kernels;
  });
  for (KernelGrouping grouping : {KernelGrouping::kName, KernelGrouping::kFamily}) {
    LinkedTable table =
        make_kernel_table(session->trace, session->analysis, grouping, Scope::kSteady);
    DurationNs total;
    std::int64_t count = 0;
    for (const auto& one : table.table.rows) {
      total += DurationNs{
          std::get<std::int64_t>(one[static_cast<std::size_t>(table.column("total_ns"))])};
      count += std::get<std::int64_t>(one[static_cast<std::size_t>(table.column("count"))]);
    }
    CHECK(total == expected);
    CHECK(count == kernels);
    CHECK(table.links.size() == table.table.rows.size());
  }
  LinkedTable launches = make_kernel_table(session->trace, session->analysis,
                                           KernelGrouping::kLaunches, Scope::kWhole);
  CHECK(launches.links.size() == launches.table.rows.size());
  for (const Target& link : launches.links) CHECK(link);
}

TEST_CASE("copies are told apart by direction, memory and size") {
  using trace::DeviceOpKind;
  using trace::MemoryKind;
  test::TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i)
    builder.launch(1, i, i + 1, 100 * i + 10, 100 * i + 20 + i,
                   {.name = "copy",
                    .kind = DeviceOpKind::kCopyHostToDevice,
                    .bytes = 1000,
                    .source = i < 2 ? MemoryKind::kPageable : MemoryKind::kPinned});
  builder.launch(1, 400, 401, 410, 500,
                 {.name = "copy",
                  .kind = DeviceOpKind::kCopyHostToDevice,
                  .bytes = 1'000'000,
                  .source = MemoryKind::kPinned});
  builder.launch(1, 500, 501, 510, 520,
                 {.name = "back", .kind = DeviceOpKind::kCopyDeviceToHost, .bytes = 10});
  builder.launch(1, 600, 601, 610, 700, {.name = "kernel"});
  auto session = test::session_of(builder);
  LinkedTable all = make_copy_table(session->trace, session->analysis, CopyDirection::kAll);
  CHECK(all.table.rows.size() == 4);
  LinkedTable there = make_copy_table(session->trace, session->analysis, CopyDirection::kToDevice);
  REQUIRE(there.table.rows.size() == 3);
  std::vector<std::uint32_t> pageable = arranged(there, {-1, true, "pageable"});
  REQUIRE(pageable.size() == 1);
  CHECK(std::get<std::int64_t>(
            there.table.rows[pageable[0]][static_cast<std::size_t>(there.column("count"))]) == 2);
  CHECK(session->timeline.interval_of(there.links[pageable[0]]).length() == DurationNs{11});
}

}  // namespace headway::gui
