#!/usr/bin/env python3
"""A PyTorch loop on the processor with three settings that matter, for `headway tune --vary`: how many workers make
batches, how samples become a batch, and how the optimizer steps. Storage is emulated: each sample waits for it.

  headway tune --runs 6 --vary '--num-workers=0,1,2' --vary '--collate=numbers,arrays,tensors' \\
    --vary '--optimizer=loop,foreach,fused' -- python3 tests/targets/pytorch_tunable.py
"""
import argparse
import time

import numpy
import torch

FEATURES = 1024


class Samples(torch.utils.data.Dataset):
    def __init__(self, count, kind, read_ms):
        self.count, self.kind, self.read_s = count, kind, read_ms / 1000
        self.row = numpy.random.default_rng(1).standard_normal(FEATURES, dtype=numpy.float32)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.read_s)
        row = self.row + numpy.float32(index)
        if self.kind == "numbers":
            return row.tolist(), index % 10
        return (row if self.kind == "arrays" else torch.from_numpy(row)), index % 10


def numbers(batch):
    return torch.tensor([row for row, _ in batch]), torch.tensor([label for _, label in batch])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-workers", type=int, default=0)
    parser.add_argument("--collate", choices=["numbers", "arrays", "tensors"], default="numbers")
    parser.add_argument("--optimizer", choices=["loop", "foreach", "fused"], default="loop")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--read-ms", type=float, default=0.5, help="what storage takes for a sample")
    parser.add_argument("--width", type=int, default=1024)
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, args.width), torch.nn.ReLU(), torch.nn.Linear(args.width, args.width),
                                torch.nn.ReLU(), torch.nn.Linear(args.width, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, foreach=args.optimizer == "foreach", fused=args.optimizer == "fused")
    loader = torch.utils.data.DataLoader(Samples(args.batch_size * args.steps, args.collate, args.read_ms), batch_size=args.batch_size,
                                         num_workers=args.num_workers, collate_fn=numbers if args.collate == "numbers" else None)
    for features, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(features), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
