# SPDX-License-Identifier: MIT
"""Ranges around the decoding of images inside a data set: the part of making a sample that could be done once, before
training. Attached to libraries that the program itself imports. Resizing a whole image to a size that depends only on
its own size belongs to this part; a crop that is drawn again each time does not."""
import sys
import threading

from headway_pytorch import core
from headway_pytorch.core import nvtx

_FUNCTIONS = {
    "cv2": ("imdecode", "imread"),
    "torchvision.io.image": ("decode_image", "decode_jpeg", "decode_png", "decode_webp", "read_image"),
}
MODULES = ("PIL.ImageFile", *_FUNCTIONS)


_MOST_SIDES = 4  # sizes to which a program resizes (e.g. for training and validation); more are drawn at random

_thread = threading.local()
_short_sides, _long_sides = set(), set()


def _before_load(args, kwargs):
    # load() is called at each use of the image; a decoded image has no tiles left.
    if not getattr(args[0], "tile", None):
        return None
    _thread.whole = args[0].size
    return nvtx.begin_decoding()


def _before_resize(args, kwargs):
    """Before Image.resize(size, resample=None, box=None, ...); kwargs is None when there are none."""
    named = kwargs or {}
    whole = args[0].size
    size = args[1] if len(args) > 1 else named.get("size")
    part = args[3] if len(args) > 3 else named.get("box")
    if part is not None or size is None or whole != getattr(_thread, "whole", None):
        return None
    # Images have different shapes: with a fixed target, one of the two sides is always the same.
    _short_sides.add(min(size))
    _long_sides.add(max(size))
    if min(len(_short_sides), len(_long_sides)) > _MOST_SIDES:
        return None
    return nvtx.begin_decoding()


def attach(part, module):
    if part == "PIL.ImageFile":
        core.wrap(module.ImageFile, "load", _before_load, nvtx.end_decoding, "decode")
        core.wrap(module.Image.Image, "resize", _before_resize, nvtx.end_decoding, "decode")
        return
    for function in _FUNCTIONS[part]:
        core.wrap(module, function, nvtx.begin_decoding, nvtx.end_decoding, "decode")


def attach_imported():
    """Attaches to the libraries that were imported before PyTorch."""
    for part in MODULES:
        if part in sys.modules:
            attach(part, sys.modules[part])
