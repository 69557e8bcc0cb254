// SPDX-License-Identifier: MIT
// scribble SEED: records, overwrites random parts of its memory shared with the recorder, and continues
// recording. The recorder must survive this.
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::mt19937_64 random(std::strtoul(argv[1], nullptr, 10));
  for (int i = 0; i < 100; ++i) {
    nvtxRangePushA("before");
    nvtxRangePop();
  }
  ::usleep(60'000);  // the recorder has these
  std::ifstream maps("/proc/self/maps");
  unsigned char* begin = nullptr;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0;
    if (line.find("memfd:headway") == std::string::npos) continue;
    std::sscanf(line.c_str(), "%lx", &from);
    begin = reinterpret_cast<unsigned char*>(from);
  }
  if (!begin) return 3;
  // The header, the ring controls, the definitions, the first ring, or small bits of all of them.
  constexpr std::size_t kControls = 4096;
  constexpr std::size_t kDefinitions = 192 * 1024;
  constexpr std::size_t kFirstRing = kDefinitions + (8u << 20);
  const std::size_t places[] = {0, kControls, kDefinitions, kFirstRing};
  for (int round = 0; round < 20; ++round) {
    std::size_t place = places[random() % std::size(places)] + random() % 4096;
    std::size_t length = 1 + random() % (round % 2 ? 8 : 2048);
    for (std::size_t i = 0; i < length; ++i)
      begin[place + i] = static_cast<unsigned char>(random());
    for (int i = 0; i < 50; ++i) {
      nvtxRangePushA("after");
      nvtxRangePop();
    }
    ::usleep(2'000);
  }
  // The library's own state in this process may be damaged by now; that must not hang it.
  return 0;
}
