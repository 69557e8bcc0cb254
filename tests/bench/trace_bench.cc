// SPDX-License-Identifier: MIT
// Cost of the trace file: rows per second of the writer (compared with bind/step/reset per row in the
// same run) and of the reader, and bytes per row. Usage: headway_bench_trace [--quick] [folder]
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trace/load/load.h"
#include "trace/save/writer.h"
#include "trace/sqlite/select.h"
#include "trace/tables/all.h"

namespace {

using namespace headway::trace;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A training run's kernels: 300 names, times 9 µs apart, as on a GPU that is never idle.
std::vector<tables::Kernel::Row> make_rows(std::int64_t count) {
  std::vector<tables::Kernel::Row> rows(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    tables::Kernel::Row& row = rows[static_cast<std::size_t>(i)];
    row.start = i * 9000;
    row.end = row.start + 5000 + i % 3000;
    row.context_id = 1;
    row.stream_id = 7;
    row.correlation_id = 1'000'000 + i;
    row.global_pid = 281'476'838'981'632;
    row.demangled_name = StringId{static_cast<std::uint32_t>(1 + i % 300)};
    row.short_name = StringId{static_cast<std::uint32_t>(301 + i % 300)};
    row.registers_per_thread = 32;
    row.grid_x = static_cast<std::int32_t>(i * 37 % 2000 + 1);
    row.block_x = 256;
    row.dynamic_shared_memory = i % 2 ? 49152 : 0;
  }
  return rows;
}

void intern_names(TraceWriter& writer) {
  for (int i = 0; i < 600; ++i)
    writer.intern("void cutlass::Kernel<sm90_gemm_" + std::to_string(i) + ">");
}

double write_bulk(const std::filesystem::path& path, const std::vector<tables::Kernel::Row>& rows) {
  TraceWriter writer(path, true);
  intern_names(writer);
  auto start = Clock::now();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    writer.add<tables::Kernel>(rows[i]);
    if (i % 20000 == 19999) writer.commit();
  }
  writer.commit();
  double elapsed = seconds_since(start);
  writer.finish();
  return elapsed;
}

/// The baseline of the bulk insert: one statement, bound and stepped row by row.
double write_row_by_row(const std::filesystem::path& path,
                        const std::vector<tables::Kernel::Row>& rows) {
  std::filesystem::remove(path);
  sqlite::Database db = sqlite::Database::create(path);
  const TableDescription& table = describe<tables::Kernel>();
  db.execute(create_table_sql(table));
  std::string sql = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(";
  for (std::size_t i = 0; i < table.columns.size(); ++i) sql += i ? ",?" : "?";
  sqlite::Statement statement = db.prepare(sql + ")");
  auto start = Clock::now();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % 20000 == 0) db.execute(i ? "COMMIT; BEGIN" : "BEGIN");
    const tables::Kernel::Row& row = rows[i];
    std::apply(
        [&](const auto&... column) {
          int parameter = 0;
          auto bind = [&](const auto& value) {
            using T = std::remove_cvref_t<decltype(value)>;
            ++parameter;
            if constexpr (ColumnType<T>::kNullable) {
              if (value) {
                if constexpr (std::is_same_v<typename ColumnType<T>::Value, StringId>) {
                  statement.bind(parameter, static_cast<std::int64_t>(value->value));
                } else {
                  statement.bind(parameter, static_cast<std::int64_t>(*value));
                }
              }
            } else if constexpr (std::is_same_v<T, StringId>) {
              statement.bind(parameter, static_cast<std::int64_t>(value.value));
            } else {
              statement.bind(parameter, static_cast<std::int64_t>(value));
            }
          };
          (bind(row.*(column.member)), ...);
        },
        tables::Kernel::columns);
    statement.step();
    statement.reset();
  }
  db.execute("COMMIT");
  return seconds_since(start);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--quick") {
      quick = true;
    } else {
      folder = argv[i];
    }
  }
  const std::int64_t count = quick ? 100'000 : 2'000'000;
  const int repeats = quick ? 1 : 3;
  std::filesystem::path path = folder / "headway_bench_trace.sqlite";
  std::vector<tables::Kernel::Row> rows = make_rows(count);

  std::vector<double> bulk;
  std::vector<double> single;
  std::vector<double> ratios;
  for (int i = 0; i < repeats; ++i) {
    single.push_back(write_row_by_row(path, rows));
    bulk.push_back(write_bulk(path, rows));
    ratios.push_back(single.back() / bulk.back());
  }
  double without_index = 0;
  {
    sqlite::Database db = sqlite::Database::open_read_only(path);
    without_index = static_cast<double>(
        db.int64("SELECT sum(pgsize) FROM dbstat WHERE name='CUPTI_ACTIVITY_KIND_KERNEL'"));
  }
  std::vector<double> load_times;
  std::size_t loaded = 0;
  for (int i = 0; i < repeats; ++i) {
    auto start = Clock::now();
    Trace trace = load(path);
    load_times.push_back(seconds_since(start));
    loaded = trace.device_ops.size();
  }
  std::vector<double> scan_times;
  for (int i = 0; i < repeats; ++i) {
    using Row = tables::Kernel::Row;
    sqlite::Database db = sqlite::Database::open_read_only(path);
    auto start = Clock::now();
    auto sums =
        sqlite::Select<tables::Kernel, &Row::start, &Row::end, &Row::device_id, &Row::stream_id,
                       &Row::correlation_id, &Row::global_pid,
                       &Row::demangled_name>::run_parallel<std::int64_t>(db, 2,
                                                                         [](std::int64_t& sum,
                                                                            std::int64_t,
                                                                            const Row& row) {
                                                                           sum +=
                                                                               row.end - row.start;
                                                                         });
    scan_times.push_back(seconds_since(start));
    if (sums.empty() || sums[0] <= 0) return 1;
  }
  double rows_per_file = static_cast<double>(count);
  double file_bytes = static_cast<double>(std::filesystem::file_size(path));
  std::filesystem::remove(path);
  if (loaded != static_cast<std::size_t>(count)) {
    fmt::print(stderr, "read back {} rows of {}\n", loaded, count);
    return 1;
  }
  fmt::print("kernel table, {} rows, {} columns, median of {}\n", count,
             describe<tables::Kernel>().columns.size(), repeats);
  fmt::print("writer_row_by_row: {:.2f} Mrows/s\n", rows_per_file / median(single) / 1e6);
  fmt::print("writer_bulk: {:.2f} Mrows/s\n", rows_per_file / median(bulk) / 1e6);
  fmt::print("writer_bulk_over_row_by_row: {:.2f} x\n", median(ratios));
  fmt::print("reader_scan_7_columns: {:.2f} Mrows/s\n", rows_per_file / median(scan_times) / 1e6);
  fmt::print("reader_to_columns: {:.2f} Mrows/s\n", rows_per_file / median(load_times) / 1e6);
  fmt::print("table_bytes_per_row: {:.1f} B\n", without_index / rows_per_file);
  fmt::print("file_bytes_per_row_with_indexes: {:.1f} B\n", file_bytes / rows_per_file);
}
