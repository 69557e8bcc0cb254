#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs trainers from PyPI that nobody here wrote, with and without `headway record`, on generated data.

scripts/public_programs.py HEADWAY [--python PYTHON] [--only NAME …]

PYTHON: of a virtual environment with torch and the packages (`pip install torch stable-baselines3 lightning
transformers accelerate skorch`); a program whose packages are missing is skipped. Each must end with the same exit
code, have all its steps found, and have 95 % of the step told by ranges or by named functions. Prints rows of a table.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

LEAST_ATTRIBUTED = 0.95
LIGHTNING = """
import lightning as L
from lightning.pytorch.demos.boring_classes import BoringModel
L.Trainer(max_epochs=2, limit_train_batches=60, limit_val_batches=2, accelerator='cpu', logger=False,
          enable_checkpointing=False, enable_progress_bar=False).fit(BoringModel())
"""
TRANSFORMERS = """
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
model = BertForSequenceClassification(BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                                                 intermediate_size=128, vocab_size=500))
one = lambda i: {'input_ids': torch.randint(0, 500, (64,)), 'labels': torch.tensor(i % 2)}
Trainer(model, TrainingArguments('out', per_device_train_batch_size=8, num_train_epochs=2, use_cpu=True,
                                 save_strategy='no', report_to=[]), train_dataset=[one(i) for i in range(240)]).train()
"""
SKORCH = """
import numpy as np, torch
from skorch import NeuralNetClassifier
x = np.random.default_rng(0).normal(size=(2000, 200)).astype('float32')
module = torch.nn.Sequential(torch.nn.Linear(200, 256), torch.nn.ReLU(), torch.nn.Linear(256, 2), torch.nn.Softmax(1))
NeuralNetClassifier(module, max_epochs=5, batch_size=32).fit(x, (x[:, 0] > 0).astype('int64'))
"""


def agent(name, policy, environment, steps):
    return f"from stable_baselines3 import {name}; {name}('{policy}', '{environment}', seed=0).learn({steps})"


# name -> packages that it imports, program
PROGRAMS = {
    "stable-baselines3 PPO": ("stable_baselines3", agent("PPO", "MlpPolicy", "CartPole-v1", 6000)),
    "stable-baselines3 A2C": ("stable_baselines3", agent("A2C", "MlpPolicy", "CartPole-v1", 9000)),
    "stable-baselines3 DQN": ("stable_baselines3", agent("DQN", "MlpPolicy", "CartPole-v1", 3000)),
    "stable-baselines3 SAC": ("stable_baselines3", agent("SAC", "MlpPolicy", "Pendulum-v1", 500)),
    "stable-baselines3 TD3": ("stable_baselines3", agent("TD3", "MlpPolicy", "Pendulum-v1", 500)),
    "Lightning demo": ("lightning", LIGHTNING),
    "transformers Trainer": ("transformers accelerate", TRANSFORMERS),
    "skorch": ("skorch", SKORCH),
}

# Counts steps by a hook of PyTorch's own, in the run without Headway. Of several optimizers the last ends a step, so
# the most frequent one counts.
COUNTER = """
import atexit, collections, runpy, sys
from torch.optim.optimizer import register_optimizer_step_post_hook
counts = collections.Counter()
register_optimizer_step_post_hook(lambda optimizer, args, kwargs: counts.update([id(optimizer)]))
atexit.register(lambda: open(sys.argv[2], 'w').write(str(max(counts.values(), default=0))))
runpy.run_path(sys.argv[1], run_name='__main__')
"""


def has(python, packages):
    return subprocess.run([python, "-c", "import " + ", ".join(packages.split())], capture_output=True).returncode == 0


def attributed(report):
    """The share of the step that ranges or named functions tell."""
    part = max(report["partition"], key=lambda one: one["steady_steps"])
    classes, step = part["classes"], max(1, part["ns_per_step"])
    untold = classes["unknown"]["share"] + classes["host_other"]["share"] + part["between_steps"]["other"] / step
    by_ranges = 1 - untold
    return by_ranges, min(1, by_ranges + sum(one["share"] for one in part["host_functions"]))


def judge(headway, python, source, folder):
    (folder / "program.py").write_text(source)
    (folder / "counter.py").write_text(COUNTER)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = lambda command: subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    alone = run([python, "counter.py", "program.py", "done"])
    recorded = run([headway, "record", "-o", "run.sqlite", "--", python, "program.py"])
    report = json.loads(run([headway, "report", "--json", "run.sqlite"]).stdout)
    by_ranges, whole = attributed(report)
    done = int((folder / "done").read_text())
    found = report["steps"]["count"]
    wrong = []
    if alone.returncode != recorded.returncode or alone.returncode != 0:
        wrong.append(f"exit code {alone.returncode} alone, {recorded.returncode} recorded: {recorded.stderr[-300:]}")
    if found != done:
        wrong.append(f"{found} steps found of {done}")
    if whole < LEAST_ATTRIBUTED:
        wrong.append(f"{whole:.1%} attributed")
    return f"{done} / {found} | {by_ranges:.0%} | {whole:.0%} | {report['verdict'].split('. ')[0]}", wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headway")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS))
    options = parser.parse_args()
    headway, failed = os.path.abspath(options.headway), False
    print("| program | done / found | told by ranges | with functions | what Headway says first |")
    print("|---|---:|---:|---:|---|")
    for name in options.only:
        packages, source = PROGRAMS[name]
        if not has(options.python, "torch " + packages):
            print(f"[skipped] {name}: {options.python} does not import torch and {packages}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            row, wrong = judge(headway, options.python, source, pathlib.Path(folder))
        print(f"| {name} | {row} |", flush=True)
        for one in wrong:
            print(f"{name}: {one}", file=sys.stderr)
        failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
