# SPDX-License-Identifier: MIT
"""Ranges around the decoding of images inside a data set: of all that makes a sample, the part that could be done
once, before training. Attached to the libraries that a program imports anyway. Resizing all of an image to a size that
its own size alone decides belongs to it; a part that is chosen anew each time does not."""
import sys
import threading

from headway_pytorch import core
from headway_pytorch.core import nvtx

_FUNCTIONS = {
    "cv2": ("imdecode", "imread"),
    "torchvision.io.image": ("decode_image", "decode_jpeg", "decode_png", "decode_webp", "read_image"),
}
MODULES = ("PIL.ImageFile", *_FUNCTIONS)


_MOST_SIZES = 256  # of whole images: more are drawn, not found

_thread = threading.local()
_resized_to = {}  # by the size of the whole image; None: to several


def _before_load(args, kwargs):
    # Asked for with each use of the image; what is decoded already has no tiles left.
    if not getattr(args[0], "tile", None):
        return None
    _thread.whole = args[0].size
    return nvtx.begin_decoding()


def _before_resize(args, kwargs):
    """Image.resize(size, resample=None, box=None, ...); kwargs: None without any."""
    named = kwargs or {}
    whole = args[0].size
    size = args[1] if len(args) > 1 else named.get("size")
    part = args[3] if len(args) > 3 else named.get("box")
    if part is not None or size is None or whole != getattr(_thread, "whole", None):
        return None
    if whole not in _resized_to and len(_resized_to) >= _MOST_SIZES:
        return None
    if _resized_to.setdefault(whole, tuple(size)) != tuple(size):
        _resized_to[whole] = None
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
    """To those that were imported before PyTorch."""
    for part in MODULES:
        if part in sys.modules:
            attach(part, sys.modules[part])
