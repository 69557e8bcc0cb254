"""Small models of three kinds, with their losses."""
from data import CLASSES, WORDS
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x):
        return functional.relu(x + self.norm2(self.second(functional.relu(self.norm1(self.first(x))))))


def backbone(width, depth):
    return nn.Sequential(nn.Conv2d(3, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU(), *(Block(width) for _ in range(depth)))


class Vision(nn.Module):
    def __init__(self, width, depth, size):
        super().__init__()
        self.backbone, self.head = backbone(width, depth), nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.backbone(x).mean((2, 3)))

    def loss(self, result, classes):
        return functional.cross_entropy(result, classes)


class Language(nn.Module):
    def __init__(self, width, depth, size):
        super().__init__()
        self.embedding, self.position = nn.Embedding(WORDS, width), nn.Embedding(size, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 4 * width, 0, batch_first=True, norm_first=True) for _ in range(depth))
        self.head = nn.Linear(width, WORDS)

    def forward(self, x):
        x = self.embedding(x) + self.position.weight
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        for layer in self.layers:
            x = layer(x, mask, is_causal=True)
        return self.head(x)

    def loss(self, result, following):
        return functional.cross_entropy(result.flatten(0, 1), following.flatten())


class Detection(nn.Module):
    """Says what is where: a class and a box for each of the cells of a grid."""

    def __init__(self, width, depth, size):
        super().__init__()
        self.backbone, self.pool = backbone(width, depth), nn.AdaptiveAvgPool2d(4)
        self.classes, self.boxes = nn.Conv2d(width, CLASSES, 1), nn.Conv2d(width, 4, 1)

    def forward(self, x):
        x = self.pool(self.backbone(x))
        return self.classes(x).flatten(2), self.boxes(x).flatten(2)

    def loss(self, result, target):
        classes, boxes = result[0][:, :, : target[0].shape[1]], result[1][:, :, : target[0].shape[1]]
        there = (target[1] >= 0).unsqueeze(1)
        return functional.cross_entropy(classes, target[1], ignore_index=-1) + ((boxes - target[0].mT).abs() * there).mean()


def model(values):
    kinds = {"vision": Vision, "language": Language, "detection": Detection}
    return kinds[values["model"]](int(values["width"]), int(values["depth"]), int(values["size"]))
