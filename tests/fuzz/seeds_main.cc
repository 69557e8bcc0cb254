// SPDX-License-Identifier: MIT
// Gives a fuzz target every file of the folders and files named on the command line, and every
// prefix of the small ones: the corpus as an ordinary test.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::size_t inputs = 0;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(in), {}};
    const auto* data = reinterpret_cast<const std::uint8_t*>(content.data());
    LLVMFuzzerTestOneInput(data, content.size());
    ++inputs;
    if (content.size() > 4096) continue;
    for (std::size_t size = 0; size < content.size(); ++size, ++inputs)
      LLVMFuzzerTestOneInput(data, size);
  }
  fmt::print("{} files, {} inputs, {} of them read to the end\n", files.size(), inputs,
             headway::test::accepted);
  return headway::test::accepted > 0 ? 0 : 1;
}
