// SPDX-License-Identifier: MIT
// A libcuda.so.1 of long ago, without most of what programs ask for; as libnvrtc.so.13, one that lacks everything.
extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) {
  return 0;
}
