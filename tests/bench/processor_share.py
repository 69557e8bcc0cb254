#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a thread that slept computes beside busy processes before it has to share: the credit of
reference_trainer/devices/sim/worker_pool.cc and analyzer/replay/shared_processors.cc.

With n busy processes on c processors a thread's share is f = c / (n + 1). It computes `work` ms of processor
time after 20 ms of sleep. What it is ahead of work / f, times f / (1 - f), is how long it ran alone; times
(1 - f), its credit. Needs an idle machine."""
import multiprocessing
import os
import statistics
import time

SLEEP_S = 0.02
ROUNDS = 40


def stay_busy():
    while True:
        pass


def takes_ms(work):
    time.sleep(SLEEP_S)
    begin, own = time.monotonic(), time.thread_time()
    while time.thread_time() - own < work / 1e3:
        pass
    return (time.monotonic() - begin) * 1e3


def main():
    processors = len(os.sched_getaffinity(0))
    print(f"Linux {os.uname().release}, {processors} processors; times in ms, means of {ROUNDS}")
    print(f"{'busy':>6}{'work':>8}{'takes':>8}{'share alone':>13}{'credit':>8}")
    for busy in (2 * processors, 4 * processors, 8 * processors):
        others = [multiprocessing.Process(target=stay_busy, daemon=True) for _ in range(busy)]
        for one in others:
            one.start()
        time.sleep(0.3)
        share = processors / (busy + 1)
        for work in (0.5, 2, 5, 10, 40):
            takes = statistics.mean(takes_ms(work) for _ in range(ROUNDS))
            alone = (work / share - takes) * share / (1 - share)
            print(f"{busy:>6}{work:>8}{takes:>8.2f}{work / share:>13.2f}{alone * (1 - share):>8.2f}", flush=True)
        for one in others:
            one.kill()


if __name__ == "__main__":
    main()
