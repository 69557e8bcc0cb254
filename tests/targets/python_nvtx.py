# SPDX-License-Identifier: MIT
"""Uses everything of the `nvtx` package; its workers end with os._exit, as PyTorch's loader workers do."""
import multiprocessing
import os
import sys

import nvtx


@nvtx.annotate("decorated", color="green")
def decorated(i):
    with nvtx.annotate("with block", color="red", domain="python domain", category="stages"):
        return i * i


def worker(name):
    with nvtx.annotate(name):
        pass
    os._exit(0)


def run_workers(method):
    context = multiprocessing.get_context(method)
    workers = [context.Process(target=worker, args=(f"in a {method} worker",)) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()


if __name__ == "__main__":
    for i in range(50):
        decorated(i)
    nvtx.mark("a mark ä")
    handle = nvtx.start_range("between")
    nvtx.end_range(handle)
    run_workers("fork")
    run_workers("spawn")
    sys.exit(3)
