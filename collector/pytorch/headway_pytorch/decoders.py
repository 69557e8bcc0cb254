# SPDX-License-Identifier: MIT
"""Ranges around the decoding of images inside a data set: of all that makes a sample, the part that could be done
once, before training. Attached to the libraries that a program imports anyway."""
import sys

from headway_pytorch import core
from headway_pytorch.core import nvtx

_FUNCTIONS = {
    "cv2": ("imdecode", "imread"),
    "torchvision.io.image": ("decode_image", "decode_jpeg", "decode_png", "decode_webp", "read_image"),
}
MODULES = ("PIL.ImageFile", *_FUNCTIONS)


def _before_load(args, kwargs):
    # Asked for with each use of the image; what is decoded already has no tiles left.
    return nvtx.begin_decoding() if getattr(args[0], "tile", None) else None


def attach(part, module):
    if part == "PIL.ImageFile":
        core.wrap(module.ImageFile, "load", _before_load, nvtx.end_decoding, "decode")
        return
    for function in _FUNCTIONS[part]:
        core.wrap(module, function, nvtx.begin_decoding, nvtx.end_decoding, "decode")


def attach_imported():
    """To those that were imported before PyTorch."""
    for part in MODULES:
        if part in sys.modules:
            attach(part, sys.modules[part])
