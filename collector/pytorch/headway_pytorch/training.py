# SPDX-License-Identifier: MIT
"""Ranges around calls of modules, backward passes and optimizers; attached once torch is imported."""
import importlib
import weakref

from headway_pytorch import core, distributed, steps
from headway_pytorch.core import BACKWARD, PHASE, UPDATE, guarded, name, nvtx

_names = {}  # id of a module -> handle of its range's name; read by nvtx.ModuleCall
_alive = {}  # id of a module -> weak reference that removes it from _names
_torch = None
_plain_call = None  # torch.nn.Module.__call__ as it was


def attach(torch):
    global _torch
    _torch = torch
    core.tell("torch", torch.__version__)
    core.tell("pytorch_hook", "ops" if core.wants_ops() else "on")
    for part in (_attach_modules, _attach_backward, _attach_optimizers, _attach_compilers):
        guarded(part.__name__.lstrip("_"))(part)()
    guarded("distributed")(distributed.attach)(torch)
    if core.wants_ops():
        from headway_pytorch import ops

        guarded("ops")(ops.attach)(torch)


# ---- modules


def _remember(module, text):
    key = id(module)
    _names[key] = name("nn.Module: " + text)

    def forget(_, key=key):
        _names.pop(key, None)
        _alive.pop(key, None)

    _alive[key] = weakref.ref(module, forget)


def _resolve(module, outermost):
    """The name of a module that was not called before: qualified in the model it is called through."""
    if module is outermost:
        steps.forward_begins(_torch.is_grad_enabled())
    if module is outermost or id(module) not in _names:
        for path, part in outermost.named_modules():
            _remember(part, path or type(outermost).__name__)
    if id(module) not in _names:  # called through the model, but not registered in it
        _remember(module, type(module).__name__)
    return _names[id(module)]


def _with_ranges(call):
    return core.ModuleWrapper(call, _names, _resolve, _torch.is_grad_enabled)


def _attach_modules():
    global _plain_call
    module = _torch.nn.Module
    _plain_call = module.__call__
    module.__call__ = _with_ranges(_plain_call)


# ---- backward


def _before_backward(args, kwargs):
    steps.backward_begins()
    nvtx.push(name("backward"), PHASE, BACKWARD)
    tensors = args[0] if args else (kwargs or {}).get("tensors")
    return nvtx.open_ranges(), nvtx.enter_backward(), distributed.backward_begins(tensors)


def _after_backward(token, error, result):
    depth, phase, waits = token
    distributed.backward_ends(waits)
    nvtx.leave_backward(phase)
    nvtx.pop_to(depth - 1)


def _attach_backward():
    # Tensor.backward() calls this one.
    core.wrap(_torch.autograd, "backward", _before_backward, _after_backward, "backward")
    core.wrap(_torch.autograd, "grad", _before_backward, _after_backward, "backward")


# ---- optimizers


def _before_step(args, kwargs):
    nvtx.push(name("Optimizer.step#%s.step" % type(args[0]).__name__), PHASE, UPDATE)
    return nvtx.open_ranges(), args[0]


def _after_step(token, error, result):
    depth, optimizer = token
    nvtx.pop_to(depth - 1)
    if not error:
        steps.updated(optimizer)


def _before_zero_grad(args, kwargs):
    nvtx.push(name("Optimizer.zero_grad#%s.zero_grad" % type(args[0]).__name__), PHASE, UPDATE)
    return nvtx.open_ranges()


def _after_zero_grad(depth, error, result):
    nvtx.pop_to(depth - 1)


def _attach_optimizers():
    optimizer = _torch.optim.Optimizer
    core.wrap(optimizer, "zero_grad", _before_zero_grad, _after_zero_grad, "zero_grad")
    hooks = importlib.import_module("torch.optim.optimizer")  # not an attribute in all versions
    if hasattr(hooks, "register_optimizer_step_post_hook"):
        _attach_step_hooks(hooks)
        return

    def after_init(token, error, result):
        # The class is known only now; before PyTorch 2 there are no hooks around step().
        for owner in type(token[0]).__mro__:
            if "step" in vars(owner):
                core.wrap(owner, "step", _before_step, _after_step, "optimizer")
                break

    core.wrap(optimizer, "__init__", lambda args, kwargs: args, after_init, "optimizer")


def _attach_step_hooks(hooks):
    is_compiling = _is_compiling()
    open_steps = []  # several at once: an optimizer may call another

    @guarded("optimizer")
    def before(optimizer, args, kwargs):
        if not is_compiling():
            open_steps.append(_before_step((optimizer,), None))

    @guarded("optimizer")
    def after(optimizer, args, kwargs):
        if is_compiling():
            return
        while open_steps:
            token = open_steps.pop()
            if token[1] is optimizer:  # others were left by an exception
                _after_step(token, False, None)
                break

    hooks.register_optimizer_step_pre_hook(before)
    hooks.register_optimizer_step_post_hook(after)


def _is_compiling():
    compiler = getattr(_torch, "compiler", None)
    return getattr(compiler, "is_compiling", None) or (lambda: False)


# ---- compilers


def _before_compile(args, kwargs):
    """torch.compile traces through calls of modules and would stop at ours: they go, from here on."""
    module = _torch.nn.Module
    if isinstance(module.__call__, nvtx.ModuleCall):
        module.__call__ = _plain_call
        core.tell("pytorch.modules", "only compiled models from the first torch.compile() on")
    distributed.detach()
    if core.wants_ops():
        from headway_pytorch import ops

        ops.detach()


def _after_compile(token, error, result):
    """A compiled model still has its range, as a whole."""
    kind = type(result)
    if not isinstance(result, _torch.nn.Module) or isinstance(kind.__call__, nvtx.ModuleCall):
        return
    kind.__call__ = _with_ranges(kind.__call__)


def _attach_compilers():
    if hasattr(_torch, "compile"):
        core.wrap(_torch, "compile", _before_compile, _after_compile, "compile")
    export = getattr(_torch, "export", None)
    if hasattr(export, "export"):
        core.wrap(export, "export", _before_compile, None, "compile")
