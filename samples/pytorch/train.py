# SPDX-License-Identifier: MIT
"""A small PyTorch program with a slow data set. Nothing in it knows Headway: `headway run -- python3 train.py`."""
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class SlowImages(Dataset):
    """Each sample takes 3 ms, as a read from slow storage does."""

    def __len__(self):
        return 320

    def __getitem__(self, i):
        time.sleep(0.003)
        return torch.full((3, 16, 16), i / 320), i % 10


def main(workers):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()
    for images, labels in DataLoader(SlowImages(), batch_size=8, num_workers=workers):
        optimizer.zero_grad()
        loss = loss_of(model(images), labels)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
