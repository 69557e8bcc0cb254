#!/usr/bin/env python3
"""headway-train beside PyTorch on the processor: the same models, batches and threads, in turns, so that what else the machine
does meets both. Prints the median step of each and the ratio of throughputs (above 1: headway-train is faster).
Usage: trainer_vs_pytorch.py BIN_FOLDER [--python PYTHON_WITH_TORCH] [--threads N] [--rounds N] [--steps N] [--json FILE] [CASE ...]"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

CASES = {
    "resnet20": ["--model", "resnet", "--depth", "20", "--width", "16", "--batch", "32", "--source", "memory", "--data", "generated", "--samples", "2000"],
    "transformer": ["--model", "transformer", "--layers", "4", "--heads", "4", "--features", "256", "--sequence", "128", "--batch", "8", "--data", "generated"],
    "transformer-small": ["--model", "transformer", "--layers", "4", "--heads", "4", "--features", "128", "--sequence", "128", "--batch", "8", "--data", "generated"],
}

# Runs under the Python that has PyTorch: trains one case and prints the durations of its steps in seconds.
TORCH = r"""
import json, sys, time
import torch
import torch.nn as nn
import torch.nn.functional as F

case, threads, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(1)


class Basic(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = None
        if stride != 1 or inside != outside:
            self.shortcut = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        return F.relu(y + (x if self.shortcut is None else self.shortcut(x)), inplace=True)


def resnet20():
    layers = [nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True)]
    inside = 16
    for stage in range(3):
        for block in range(3):
            outside = 16 << stage
            layers.append(Basic(inside, outside, 2 if stage and not block else 1))
            inside = outside
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 10)]
    return nn.Sequential(*layers)


class Block(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.qkv, self.proj = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.fc1, self.fc2 = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(self.ln1(x)).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + F.dropout(self.proj(y), 0.1)
        y = self.fc2(F.gelu(self.fc1(self.ln2(x)), approximate="tanh"))
        return x + F.dropout(y, 0.1)


class Gpt(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(256, c), nn.Embedding(128, c)
        self.blocks = nn.Sequential(*[Block(c, 4) for _ in range(4)])
        self.ln, self.head = nn.LayerNorm(c), nn.Linear(c, 256, bias=False)
        self.register_buffer("places", torch.arange(128))

    def forward(self, x):
        return self.head(self.ln(self.blocks(self.tokens(x) + self.positions(self.places)))).view(-1, 256)


def durations(step):
    result = []
    for _ in range(steps + 5):
        start = time.perf_counter()
        step()
        result.append(time.perf_counter() - start)
    return result[5:]


def trainer(model, x, labels, optimizer):
    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), labels).backward()
        optimizer.step()
    return durations(step)


results = []
if case == "resnet20":
    for layout in (torch.channels_last, torch.contiguous_format):
        model = resnet20().to(memory_format=layout)
        x = torch.randn(32, 1, 28, 28).to(memory_format=layout)
        results.append(trainer(model, x, torch.randint(0, 10, (32,)), torch.optim.SGD(model.parameters(), 0.05, 0.9, weight_decay=1e-4)))
else:
    model = Gpt(256 if case == "transformer" else 128)
    x = torch.randint(0, 256, (8, 128))
    for fused in (True, False):
        try:
            optimizer = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=1e-4, fused=fused)
            results.append(trainer(model, x, torch.randint(0, 256, (8 * 128,)), optimizer))
        except (RuntimeError, TypeError):
            continue
print(json.dumps({"version": torch.__version__, "steps": min(results, key=lambda r: sorted(r)[len(r) // 2])}))
"""


def run(command, threads):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), CUDA_VISIBLE_DEVICES="")
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env, timeout=600)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed with status {result.returncode}:\n{result.stderr}")
    return result.stdout


def ours(program, case, threads, steps):
    with tempfile.TemporaryDirectory() as folder:
        metrics = pathlib.Path(folder) / "metrics.json"
        run([program, *CASES[case], "--threads", threads, "--steps", steps + 5, "--eval", "off", "--quiet", "--metrics", metrics], threads)
        return [step["duration_s"] for step in json.loads(metrics.read_text())["steps"]][5:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    unknown = [case for case in options.cases if case not in CASES]
    if unknown:
        parser.error(f"no case '{unknown[0]}'; there are {', '.join(CASES)}")
    report = {}
    for case in options.cases or CASES:
        mine, theirs, version = [], [], ""
        for _ in range(options.rounds):
            mine.append(statistics.median(ours(options.bin / "headway-train", case, options.threads, options.steps)))
            answer = json.loads(run([options.python, "-c", TORCH, case, options.threads, options.steps], options.threads))
            version = answer["version"]
            theirs.append(statistics.median(answer["steps"]))
        ratios = sorted(b / a for a, b in zip(mine, theirs))
        report[case] = {"headway_ms": 1e3 * statistics.median(mine), "pytorch_ms": 1e3 * statistics.median(theirs),
                        "ratio": statistics.median(ratios), "ratios": ratios, "pytorch": version, "threads": options.threads}
        print(f"{case}: {report[case]['headway_ms']:.2f} ms, PyTorch {version} {report[case]['pytorch_ms']:.2f} ms, "
              f"ratio {report[case]['ratio']:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
