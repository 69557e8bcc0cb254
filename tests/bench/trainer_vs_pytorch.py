#!/usr/bin/env python3
"""headway-train beside PyTorch (pytorch_models.py) on the processor or on a GPU: the same models, batches, precision and threads, in
turns, so that what else the machine does meets both. Prints the median step of each and the ratio of throughputs (above 1:
headway-train is faster). On a GPU, PyTorch's input lies there from the start, and ours comes from the host in every step.
Usage: trainer_vs_pytorch.py BIN_FOLDER [--python PYTHON_WITH_TORCH] [--device host|cuda] [--precision P] [--compile] [--threads N] [--rounds N]
[--steps N] [--json FILE] [CASE ...]"""
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
    "resnet50": ["--model", "resnet", "--depth", "50", "--width", "16", "--batch", "128", "--data", "generated-pictures", "--image-size", "224",
                 "--samples", "512", "--source", "shards", "--decode", "offline", "--augment", "off", "--workers", "8", "--prefetch", "8"],
    "gpt2-small": ["--model", "transformer", "--layers", "12", "--heads", "12", "--features", "768", "--sequence", "1024", "--batch", "16", "--data", "generated"],
}
USUAL = {"host": ["resnet20", "transformer", "transformer-small"], "cuda": ["resnet50", "gpt2-small"]}
# Of headway-train: what PyTorch calls amp keeps FP32 parameters and casts operands, as O1 does.
PRECISIONS = {"fp32": "fp32", "tf32": "tf32", "amp": "amp-o1", "bf16": "bf16"}

def run(command, options):
    env = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    if options.device == "host":
        env["CUDA_VISIBLE_DEVICES"] = ""
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env, timeout=600)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed with status {result.returncode}:\n{result.stderr}")
    return result.stdout


def ours(case, options):
    with tempfile.TemporaryDirectory() as folder:
        metrics = pathlib.Path(folder) / "metrics.json"
        run([options.bin / "headway-train", *CASES[case], "--device", options.device, "--precision", PRECISIONS[options.precision], "--cache-dir", folder,
             "--threads", options.threads, "--steps", options.steps + 5, "--eval", "off", "--quiet", "--metrics", metrics], options)
        return [step["duration_s"] for step in json.loads(metrics.read_text())["steps"]][5:]


def theirs(case, options):
    command = [options.python, pathlib.Path(__file__).parent / "pytorch_models.py", case, "--device", "cpu" if options.device == "host" else "cuda",
               "--precision", options.precision, "--threads", options.threads, "--steps", options.steps, *(["--compile"] if options.compile else [])]
    return json.loads(run(command, options))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--device", default="host", choices=["host", "cuda"])
    parser.add_argument("--precision", default="fp32", choices=PRECISIONS)
    parser.add_argument("--compile", action="store_true", help="PyTorch's model through torch.compile")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    unknown = [case for case in options.cases if case not in CASES]
    if unknown:
        parser.error(f"no case '{unknown[0]}'; there are {', '.join(CASES)}")
    report = {}
    for case in options.cases or USUAL[options.device]:
        mine, pytorch, version = [], [], ""
        for _ in range(options.rounds):
            mine.append(statistics.median(ours(case, options)))
            answer = theirs(case, options)
            version = answer["version"]
            pytorch.append(statistics.median(answer["steps"]))
        ratios = sorted(b / a for a, b in zip(mine, pytorch))
        report[case] = {"headway_ms": 1e3 * statistics.median(mine), "pytorch_ms": 1e3 * statistics.median(pytorch), "ratio": statistics.median(ratios),
                        "ratios": ratios, "pytorch": version, "precision": options.precision, "compiled": options.compile, "threads": options.threads}
        print(f"{case}, {options.precision}{', torch.compile' if options.compile else ''}: {report[case]['headway_ms']:.2f} ms, PyTorch {version} "
              f"{report[case]['pytorch_ms']:.2f} ms, ratio {report[case]['ratio']:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
