// SPDX-License-Identifier: MIT
// The reader of SQLite files under arbitrary bytes: it loads, or throws Error(kBadInput).
#include "common/error.h"
#include "tests/fuzz/target.h"
#include "trace/load/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headway::trace::LoadOptions options;
  options.threads = 1;
  try {
    headway::trace::load(headway::test::file_of(data, size), options);
    ++headway::test::accepted;
  } catch (const headway::Error& error) {
    if (error.code() != headway::ExitCode::kBadInput) std::abort();
  }
  return 0;
}
