# SPDX-License-Identifier: MIT
"""Ranges around calls of modules, backward passes and optimizers; attached when torch is imported."""
import importlib
import sys
import threading
import weakref

from headway_pytorch import core, distributed, pauses, profiling, steps
from headway_pytorch.core import OTHER, PHASE, UPDATE, guarded, name, nvtx

_names = {}  # id of a module -> handle of its range's name; read by nvtx.ModuleCall
_alive = {}  # id of a module -> weak reference that removes it from _names and _outermost
_outermost = set()  # ids of the modules that the program calls itself
_torch = None
_plain_call = None  # the original torch.nn.Module.__call__
_plain_train = None  # the original torch.nn.Module.train
_waits = False  # a callback for the begin of compiling is registered
_watches = False  # callbacks for the time of compiling are registered


def attach(torch):
    global _torch
    _torch = torch
    core.tell("torch", torch.__version__)
    core.tell("pytorch_hook", "ops" if core.wants_ops() else "on")
    for part in (_attach_modules, _attach_modes, _attach_backward, _attach_optimizers, _attach_compilers):
        guarded(part.__name__.lstrip("_"))(part)()
    guarded("distributed")(distributed.attach)(torch)
    guarded("pauses")(pauses.attach)(torch)
    guarded("torch.profiler")(profiling.attach)(torch)
    if core.wants_ops():
        from headway_pytorch import ops

        guarded("ops")(ops.attach)(torch)


# ---- modules


def _remember(module, text):
    key = id(module)
    _names[key] = name("nn.Module: " + text)

    def forget(_, key=key):
        _names.pop(key, None)
        _outermost.discard(key)
        _alive.pop(key, None)

    _alive[key] = weakref.ref(module, forget)


def _resolve(module, outermost):
    """The name of a module at its first call: qualified in the model through which it is called."""
    if module is outermost:
        _outermost.add(id(module))
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


# ---- model.train() and model.eval(), which calls the former


class _Mode(threading.local):
    def __init__(self):
        self.calls = 0  # depth of nested calls: a module passes the call on to its submodules


_mode = _Mode()


def _before_mode(args, kwargs):
    _mode.calls += 1
    return id(args[0]), args[1] if len(args) > 1 else (kwargs or {}).get("mode", True)


def _after_mode(token, error, result):
    _mode.calls -= 1
    module, trains = token
    # Parts of a model may stay in evaluation mode while it is trained.
    if not _mode.calls and not error and module in _names:
        steps.mode_changed(trains, module in _outermost)


def _attach_modes():
    global _plain_train
    _plain_train = _torch.nn.Module.train
    core.wrap(_torch.nn.Module, "train", _before_mode, _after_mode, "modes")


# ---- backward


def _attach_backward():
    # Tensor.backward() calls torch.autograd.backward().
    core.wrap(_torch.autograd, "backward", nvtx.around_backward, None, "backward")
    core.wrap(_torch.autograd, "grad", nvtx.around_gradients, None, "backward")


# ---- optimizers


_closures = []  # steps that have yet to compute their gradients
_step_names = core.Names("Optimizer.step#%s.step")
_zero_grad_names = core.Names("Optimizer.zero_grad#%s.zero_grad")


class _Closure:
    """An optimizer's step with a closure, and the number of ranges open before its own, if that is open. What a closure
    does besides its passes is no update: frameworks run a whole batch in it."""

    __slots__ = ("optimizer", "thread", "before", "pushed")

    def __init__(self, optimizer):
        self.optimizer = type(optimizer)
        self.thread = threading.get_ident()
        self.before = nvtx.open_ranges()
        self.pushed = False
        _closures.append(self)

    def push(self):
        self.before = nvtx.push(_step_names[self.optimizer], PHASE, UPDATE)
        self.pushed = True

    def end(self):
        if self in _closures:
            _closures.remove(self)
        if self.pushed:
            nvtx.pop_to(self.before)


def _closure_ends():
    """A backward pass has ended. The first pass in a step ends its closure; solvers call it again in their own work."""
    token = _closures[-1]
    # The closure's first call of a module may have opened the range of the whole step.
    if token.thread == threading.get_ident() and nvtx.open_ranges() - token.before in (0, 1):
        _closures.pop()
        token.push()


_described = weakref.WeakSet()


@guarded("optimizer flags")
def _describe(optimizer):
    """Reports once how the optimizer is implemented and how much it updates. -> whether that is known."""
    if optimizer in _described:
        return True
    tensors = [one for group in optimizer.param_groups for one in group["params"] if one.grad is not None]
    if not tensors:  # a closure has not computed the gradients yet
        return False
    _described.add(optimizer)
    values = [type(optimizer).__name__, "tensors=%d" % len(tensors)]
    values.append("elements=%d" % sum(one.numel() for one in tensors))
    values.append("device=" + "+".join(sorted({one.device.type for one in tensors})))
    flags = optimizer.defaults
    values += ["%s=%s" % (key, flags[key]) for key in ("foreach", "fused", "momentum") if key in flags]
    number = len(_described)
    core.tell("optimizer" if number == 1 else "optimizer %d" % number, " ".join(values))
    return True


def _attach_optimizers():
    optimizer = _torch.optim.Optimizer
    nvtx.start_updates(_step_names, _zero_grad_names, _describe, core.failed("optimizer"))
    nvtx.start_closures(_closures, _Closure, _closure_ends, _Closure.end)
    core.wrap(optimizer, "zero_grad", nvtx.around_zero_grad, None, "zero_grad")
    hooks = importlib.import_module("torch.optim.optimizer")  # not an attribute in all versions
    if hasattr(hooks, "register_optimizer_step_post_hook"):
        _attach_step_hooks(hooks)
        core.wrap(optimizer, "__init__", None, nvtx.optimizer_made, "optimizer")
        return

    def after_init(token, error, result):
        nvtx.optimizer_made()
        # Before PyTorch 2 there are no hooks around step(), so it is wrapped here, where the class is known.
        for owner in type(token[0]).__mro__:
            if "step" in vars(owner):
                core.wrap(owner, "step", nvtx.around_step, None, "optimizer")
                break

    core.wrap(optimizer, "__init__", lambda args, kwargs: args, after_init, "optimizer")


def _attach_step_hooks(hooks):
    """The hooks are in Python, because a compiler traces into them; the functions that they call raise nothing."""
    is_compiling = _is_compiling()
    begins, ended = nvtx.step_begins, nvtx.step_ended

    def before(optimizer, args, kwargs):
        if not is_compiling():
            begins(optimizer, args, kwargs)

    def after(optimizer, args, kwargs):
        if not is_compiling():
            ended(optimizer)

    hooks.register_optimizer_step_pre_hook(before)
    hooks.register_optimizer_step_post_hook(after)


def _is_compiling():
    """The cheapest function that says whether PyTorch is compiling."""
    compiler = getattr(_torch, "compiler", None)
    asks = getattr(compiler, "is_dynamo_compiling", None) or getattr(compiler, "is_compiling", None)
    return asks or (lambda: False)


# ---- compilers


def _make_way():
    """Removes our hooks for ever: torch.compile traces through calls of modules and would stop at the wrappers."""
    module = _torch.nn.Module
    if isinstance(module.__call__, nvtx.ModuleCall):
        module.__call__ = _plain_call
        module.train = _plain_train
        core.tell("pytorch.modules", "only compiled models from the first torch.compile() on")
    distributed.detach()
    if "headway_pytorch.keras_hook" in sys.modules:
        sys.modules["headway_pytorch.keras_hook"].detach()
    if core.wants_ops():
        from headway_pytorch import ops

        ops.detach()


def _before_export(args, kwargs):
    _make_way()


def _before_compile(args, kwargs):
    """Makes way for the compiler. For a plain function this waits until compiling begins, because libraries decorate functions
    that may never be called."""
    model = args[0] if args else (kwargs or {}).get("model")
    if not callable(model):  # the program asks for a decorator, which will call torch.compile again
        return
    _watch_compiler()
    if isinstance(model, _torch.nn.Module) or core.wants_ops() or not _tells_begin():
        _make_way()


_compiling = []  # for each nested compilation, the number of ranges open before


@guarded("compile")
def _compile_begins(*_):
    _compiling.append(nvtx.push(name("torch.compile"), OTHER))


@guarded("compile")
def _compile_ends(*_):
    if not _compiling:
        return
    nvtx.pop_to(_compiling.pop())
    counters = importlib.import_module("torch._dynamo.utils").counters
    breaks = sum(counters["graph_break"].values())
    core.tell("torch.compile", "graphs=%d graph_breaks=%d" % (counters["stats"]["unique_graphs"], breaks))


def _watch_compiler():
    """Registers callbacks: from PyTorch 2.4 on it calls back when compiling begins and ends."""
    global _watches
    if _watches:
        return
    _watches = True
    try:
        dynamo = importlib.import_module("torch._dynamo")
        dynamo.on_compile_start(_compile_begins)
        dynamo.on_compile_end(_compile_ends)
    except (ImportError, AttributeError):
        pass


def _tells_begin():
    """Whether PyTorch calls back when compiling begins, as from 2.4 on; registers the callback once."""
    global _waits
    if not _waits:
        try:
            dynamo = importlib.import_module("torch._dynamo")
            dynamo.on_compile_start(guarded("compile")(lambda *_: _make_way()))
        except (ImportError, AttributeError):
            return False
        _waits = True
        core.wrap(dynamo, "reset", _before_export, None, "compile")  # reset() drops the callbacks
    return True


def _after_compile(token, error, result):
    """Gives a compiled model one range for the whole model."""
    kind = type(result)
    if not isinstance(result, _torch.nn.Module) or isinstance(kind.__call__, nvtx.ModuleCall):
        return
    kind.__call__ = _with_ranges(kind.__call__)
    core.wrap(kind, "train", _before_mode, _after_mode, "modes")


def _attach_compilers():
    if hasattr(_torch, "compile"):
        core.wrap(_torch, "compile", _before_compile, _after_compile, "compile")
    export = getattr(_torch, "export", None)
    if hasattr(export, "export"):
        core.wrap(export, "export", _before_export, None, "compile")
