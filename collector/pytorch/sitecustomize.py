# SPDX-License-Identifier: MIT
"""Python runs this at its start because `headway record --pytorch` puts the folder first on PYTHONPATH.

It waits for the program to import torch, keras, tensorflow or jax; a program that never does is left alone. Then it
runs the sitecustomize that would have run without it.
"""
import importlib.machinery
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


class _AfterImport:
    """Leaves the finding of modules unchanged, and calls back when a module in `callbacks` has been imported."""

    def __init__(self, callbacks):
        self.callbacks = callbacks

    def find_spec(self, name, path=None, target=None):
        if name not in self.callbacks:
            return None
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, name, self)
                return spec
        return None


class _Loader:
    """Replaces a loader until the module is executed; the module never sees it.

    Many programs only ask for the spec first, to learn whether torch is installed.
    """

    def __init__(self, loader, name, waiting):
        self.loader = loader
        self.name = name
        self.waiting = waiting

    def __getattr__(self, name):
        if name == "loader":  # an object that is being copied does not have it yet
            raise AttributeError(name)
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        callback = self.waiting.callbacks.pop(self.name, None)
        self.loader.exec_module(module)
        if callback:
            callback(module)
        if not self.waiting.callbacks and self.waiting in sys.meta_path:
            sys.meta_path.remove(self.waiting)


def _attach(part):
    def callback(module):
        try:
            import headway_pytorch

            headway_pytorch.attach(part, module)
        except Exception:  # the program runs on without the hooks; the recorder reports that they sent nothing
            pass

    return callback


def _run_the_one_behind():
    path = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


# Modules that train, modules that write checkpoints, and modules that decode images, maybe for a data set.
PARTS = ("torch", "torch.utils.data", "torch.distributed.checkpoint", "safetensors.torch")
PARTS += ("PIL.ImageFile", "cv2", "torchvision.io.image")
# Frameworks other than PyTorch.
PARTS += ("keras", "tensorflow", "jax", "optax")
if os.environ.get("HEADWAY_PYTORCH"):
    sys.meta_path.insert(0, _AfterImport({name: _attach(name) for name in PARTS}))
import importlib.util  # noqa: E402  (after the hook: nothing above needs it)

_run_the_one_behind()
