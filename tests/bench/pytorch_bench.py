#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `headway record --pytorch` costs a PyTorch program: time per call of each kind, plain, with the hooks and with ops, in turns.
The smallest figure of all bursts and rounds counts, as what else the machine does only adds. Usage: pytorch_bench.py BIN_FOLDER [--quick] [--rounds N] [--python PYTHON]"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


def measure(calls):
    """In the measured process: microseconds a call of each kind."""
    import time

    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)

    def timed(body, count):
        body()
        bursts = []
        for _ in range(10):  # in bursts that fit a ring, which is emptied in between
            begin = time.perf_counter()
            for _ in range(count // 10):
                body()
            bursts.append((time.perf_counter() - begin) / (count // 10) * 1e6)
            time.sleep(0.03)
        return min(bursts)

    class Nothing(nn.Module):
        def forward(self, x):
            return x

    x, module = torch.ones(1), Nothing()
    weight = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def backward():
        y = weight
        for _ in range(20):
            y = y * x
        y.backward()

    figures = {
        "module_call": timed(lambda: module(x), calls),
        "op": timed(lambda: torch.add(x, x), calls),
        "op_and_its_backward": timed(backward, calls // 10) / 20,
        "optimizer_step": timed(optimizer.step, calls // 2),
    }
    loader = iter(DataLoader([x] * (calls * 2), batch_size=1))
    figures["batch_on_the_training_thread"] = timed(lambda: next(loader), calls // 2)
    print(json.dumps(figures))


def main():
    if sys.argv[1:2] == ["--measure"]:
        return measure(int(sys.argv[2]))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--python", default="/usr/bin/python3")
    options = parser.parse_args()
    if subprocess.run([options.python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        print(f"[skipped] {options.python} cannot import torch: apt-get install python3-torch")
        return
    rounds, calls = (1, 200) if options.quick else (options.rounds, 2000)
    program = [options.python, "-W", "ignore", __file__, "--measure", str(calls)]
    figures = {"plain": [], "hooks": [], "ops": []}
    with tempfile.TemporaryDirectory(prefix="headway bench ") as folder:
        record = [options.bin / "headway", "record", "--quiet", "--force", "-o", f"{folder}/run.sqlite"]
        commands = {"plain": program, "hooks": [*record, "--pytorch", "--", *program], "ops": [*record, "--pytorch=ops", "--", *program]}
        for number in range(rounds):
            for which in list(commands)[:: 1 if number % 2 == 0 else -1]:
                run = subprocess.run(commands[which], check=True, stdout=subprocess.PIPE)
                figures[which].append(json.loads(run.stdout))
    for name in figures["plain"][0]:
        of = {which: min(run[name] for run in runs) for which, runs in figures.items()}
        for which, value in of.items():
            print(f"{name}_{which}: {value:.2f} us")
        print(f"{name}_cost_of_hooks: {of['hooks'] - of['plain']:.2f} us")
        print(f"{name}_cost_of_ops: {of['ops'] - of['plain']:.2f} us")


if __name__ == "__main__":
    main()
