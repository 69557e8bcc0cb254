// SPDX-License-Identifier: MIT
// overflow DEPTH REPEATS: nests ranges faster than any recorder can take them, so that the ring
// overflows in the middle of the nesting, and prints how many it pushed. Ends with a calm phase.
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int depth = std::atoi(argv[1]);
  int repeats = std::atoi(argv[2]);
  std::vector<std::string> names;
  for (int d = 0; d < depth; ++d) names.push_back("depth " + std::to_string(d));
  long pushed = 0;
  for (int r = 0; r < repeats; ++r) {
    for (int d = 0; d < depth; ++d, ++pushed) {
      if (nvtxRangePushA(names[static_cast<std::size_t>(d)].c_str()) != d) return 3;
    }
    for (int d = depth - 1; d >= 0; --d) {
      if (nvtxRangePop() != d) return 3;
    }
  }
  ::usleep(300'000);
  for (int i = 0; i < 100; ++i, ++pushed) {
    nvtxRangePushA("calm");
    nvtxRangePop();
    ::usleep(1'000);
  }
  std::printf("%ld\n", pushed);
}
