# SPDX-License-Identifier: MIT
"""The hooks that `headway record --pytorch` adds to programs of PyTorch, Keras, TensorFlow and JAX: ranges around their work.

Of PyTorch only public interfaces are used; code that uses a private interface of another framework says so. A hook that
fails switches itself off and says so in the trace; the program runs on.
"""
import importlib
import sys

_HOOKS = {"keras": "keras_hook", "tensorflow": "tensorflow_hook", "jax": "jax_hook", "optax": "optax_hook"}


def attach(part, module):
    """Called once `part` (PARTS of sitecustomize.py) has been imported as `module`."""
    if part in ("torch.distributed.checkpoint", "safetensors.torch"):
        from headway_pytorch import core, pauses

        if core.start():
            pauses.attach_savers(part, module)
        return
    if part in _HOOKS:
        from headway_pytorch import core

        if core.start():
            core.guarded(part)(importlib.import_module("headway_pytorch." + _HOOKS[part]).attach)(module)
        return
    if part not in ("torch", "torch.utils.data"):
        if "torch.utils.data" in sys.modules:  # else loading.attach() attaches it later
            from headway_pytorch import decoders

            decoders.attach(part, module)
        return
    from headway_pytorch import core

    if not core.start():
        return
    if part == "torch":
        from headway_pytorch import training

        training.attach(module)
    else:
        from headway_pytorch import loading

        loading.attach(module)
