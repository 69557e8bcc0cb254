"""Generated data, laid out once, and data sets that read it in a good way or a bad one."""
import os
import time

import numpy
import torch
from PIL import Image
from torch.utils.data import Dataset

COUNT = 96  # files; a data set goes round them
WORDS = 2000
CLASSES = 10


def prepared(folder, name, write):
    """A folder of files, written at the first time."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        unfinished = f"{path}.{os.getpid()}"
        os.makedirs(unfinished)
        write(unfinished, numpy.random.default_rng(1))
        try:
            os.rename(unfinished, path)
        except OSError:  # another one was faster
            pass
    return path


def write_pictures(folder, generator, size):
    for i in range(COUNT):
        coarse = generator.integers(0, 256, (size // 4, size // 4, 3), dtype=numpy.uint8)
        picture = Image.fromarray(coarse).resize((2 * size, 2 * size), Image.BICUBIC)
        picture.save(os.path.join(folder, f"{i}.jpg"), quality=90)
        numpy.save(os.path.join(folder, f"{i}.npy"), numpy.asarray(picture.resize((size, size), Image.BILINEAR)))


def write_texts(folder, generator, length):
    for i in range(COUNT):
        numbers = generator.integers(0, WORDS, length + 1)
        with open(os.path.join(folder, f"{i}.txt"), "w") as file:
            file.write(" ".join(f"word{number}" for number in numbers))
        numpy.save(os.path.join(folder, f"{i}.npy"), numbers)


class Files(Dataset):
    """Samples from files: each is read, and decoded unless it was before."""

    def __init__(self, values, folder, samples):
        self.decode, self.latency_s = values["decode"] == "step", float(values["storage_ms"]) / 1e3
        self.folder, self.samples = folder, samples
        self.kept = None
        if values["source"] == "memory":
            self.decode, self.latency_s = False, 0
            self.kept = [self.load(i) for i in range(COUNT)]

    def __len__(self):
        return self.samples

    def file(self, i, ending):
        return os.path.join(self.folder, f"{i}.{ending}")

    def sample(self, i):
        i %= COUNT
        if self.kept is not None:
            return self.kept[i]
        if self.latency_s:
            time.sleep(self.latency_s)
        return self.load(i)


class Pictures(Files):
    def __init__(self, values, folder, samples):
        self.size = int(values["size"])
        super().__init__(values, prepared(folder, f"pictures {self.size}", lambda path, g: write_pictures(path, g, self.size)), samples)

    def load(self, i):
        if not self.decode:
            return numpy.load(self.file(i, "npy"))
        with Image.open(self.file(i, "jpg")) as picture:
            return numpy.asarray(picture.convert("RGB").resize((self.size, self.size), Image.BILINEAR))

    def __getitem__(self, i):
        pixels = self.sample(i)
        if i % 2:
            pixels = pixels[:, ::-1]
        return torch.from_numpy(pixels.transpose(2, 0, 1) / numpy.float32(255) - numpy.float32(0.5)), i % CLASSES


class Boxes(Pictures):
    """Pictures with a number of boxes each that differs."""

    def __getitem__(self, i):
        picture, _ = super().__getitem__(i)
        count = 1 + i * 7 % 12
        at = torch.arange(count * 4, dtype=torch.float32).reshape(count, 4) * 0.37 % 1
        return picture, at, torch.arange(count) % CLASSES


class Texts(Files):
    def __init__(self, values, folder, samples):
        length = int(values["size"])
        self.numbers = {f"word{i}": i for i in range(WORDS)}
        super().__init__(values, prepared(folder, f"texts {length}", lambda path, g: write_texts(path, g, length)), samples)

    def load(self, i):
        if not self.decode:
            return numpy.load(self.file(i, "npy"))
        with open(self.file(i, "txt")) as file:
            text = file.read()
        return numpy.array([self.numbers.get(text[begin:end], 0) for begin, end in words(text)])

    def __getitem__(self, i):
        numbers = torch.from_numpy(self.sample(i))
        return numbers[:-1], numbers[1:]


def words(text):
    """Begin and end of each word, letter by letter, as tokenizers in Python do."""
    begin = 0
    for at, letter in enumerate(text):
        if letter == " ":
            yield begin, at
            begin = at + 1
    yield begin, len(text)


def stacked(tensors, slow):
    """One tensor of all samples; slowly by way of Python's lists."""
    if not slow:
        return torch.stack(tensors)
    return torch.tensor([tensor.tolist() for tensor in tensors], dtype=tensors[0].dtype)


class Collate:
    def __init__(self, values):
        self.slow, self.ragged = values["collate"] == "slow", values["model"] == "detection"

    def __call__(self, samples):
        inputs, targets = stacked([one[0] for one in samples], self.slow), [one[1] for one in samples]
        if self.ragged:
            return inputs, padded(samples, self.slow)
        return inputs, torch.tensor(targets) if isinstance(targets[0], int) else stacked(targets, self.slow)


def padded(samples, slow):
    """Boxes and classes of all pictures, of the length of the longest, and what of it is padding."""
    most = max(len(one[1]) for one in samples)
    boxes, classes = torch.zeros(len(samples), most, 4), torch.full((len(samples), most), -1)
    for row, (_, its_boxes, its_classes) in enumerate(samples):
        if slow:
            for i in range(len(its_boxes)):
                boxes[row, i] = its_boxes[i]
                classes[row, i] = its_classes[i]
        else:
            boxes[row, : len(its_boxes)] = its_boxes
            classes[row, : len(its_classes)] = its_classes
    return boxes, classes


def dataset(values, folder, samples):
    return {"vision": Pictures, "language": Texts, "detection": Boxes}[values["model"]](values, folder, samples)
