// SPDX-License-Identifier: MIT
// The peer of headway_bench_nvtx: the same bursts of begin and end of a named range, told to
// LTTng-UST. Prints the median ns a pair. Usage: headway_bench_lttng_peer BURSTS
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/lttng_provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kPairsPerBurst = 2000, kMostBursts = 1000 };

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void* a, const void* b) {
  double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

int main(int argc, char** argv) {
  int bursts = argc > 1 ? atoi(argv[1]) : 20;
  static double times[kMostBursts];
  const struct timespec pause = {0, 25000000};
  if (bursts < 2 || bursts > kMostBursts) return 2;
  for (int burst = 0; burst < bursts; ++burst) {
    double start = now_ns();
    for (int i = 0; i < kPairsPerBurst; ++i) {
      lttng_ust_tracepoint(headway_bench, push, "layer1.0.conv1");
      lttng_ust_tracepoint(headway_bench, pop, 0);
    }
    times[burst] = (now_ns() - start) / kPairsPerBurst;
    nanosleep(&pause, NULL);
  }
  qsort(times + 1, (size_t)bursts - 1, sizeof times[0], compare);  // the first one warms up
  printf("%.3f\n", times[1 + (bursts - 1) / 2]);
  return 0;
}
