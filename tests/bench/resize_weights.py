#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much longer resizing takes for a pixel of the result than for one of the source, in Pillow and torchvision.

Times of one thread, fitted by a line over the source's area. Needs numpy, pillow, torch and torchvision.
"""
import time

import numpy
import torch
from PIL import Image
from torchvision.transforms.v2 import functional

ROUNDS = 30


def median_us(work):
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return sorted(times)[ROUNDS // 2] * 1e6


def main():
    torch.set_num_threads(1)
    for side in (128, 224):
        areas = []
        times = {"Pillow, bilinear": [], "torchvision, antialiased": [], "torchvision, plain": []}
        for larger in (1.14, 1.6, 2.36, 3):
            source = int(side * larger)
            pixels = numpy.random.randint(0, 255, (source, source, 3), numpy.uint8)
            picture = Image.fromarray(pixels)
            tensor = torch.from_numpy(pixels).permute(2, 0, 1).contiguous()
            size = [side, side]
            areas.append((source / side) ** 2)
            times["Pillow, bilinear"].append(median_us(lambda: picture.resize(size, Image.BILINEAR)))
            for name, antialias in (("torchvision, antialiased", True), ("torchvision, plain", False)):
                times[name].append(median_us(lambda: functional.resize(tensor, size, antialias=antialias)))
        for name, each in times.items():
            of_source, of_result = numpy.polyfit(areas, each, 1)
            print(f"to {side} pixels a side, {name}: a result's pixel takes {of_result / of_source:.1f} times a source's")


if __name__ == "__main__":
    main()
