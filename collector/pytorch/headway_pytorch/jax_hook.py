# SPDX-License-Identifier: MIT
"""Custom loops of JAX: calls of functions that jax.jit returns, gradients, and waits for results.

JAX returns results before they are computed. So the range of a compiled function's call has only the work of Python;
the computation shows where the program waits for it. A call is an update if optax.apply_updates was called while the
function was traced; in programs without optax, if gradients were computed while it was traced.
"""
import weakref

from headway_pytorch import core, pauses, steps, traced, waits
from headway_pytorch.core import FORWARD, PHASE, guarded, name, nvtx

_jax = None
_used = None
_leaves = None
_known = weakref.WeakKeyDictionary()  # Python function -> Traced; a program may compile a function again in each step
_result = None  # a small array of the latest call that trained
_SMALL = 4096  # bytes: keeping a larger array alive would change the memory use of the program


def attach(jax):
    global _jax, _leaves, _used
    _jax = jax
    _used = core.Used("jax", jax.__version__)
    _leaves = jax.tree_util.tree_leaves
    core.tell("python_hook", "on")
    for part in (_attach_compilers, _attach_gradients, _attach_waits):
        guarded("jax " + part.__name__[len("_attach_") :])(part)()
    waits.ask(guarded("jax results")(_computes))
    guarded("pauses")(pauses.watch_collector)()


class _StandIn(core.Wrapper):
    """Replaces a function that JAX returned; has its attributes, its class and its pickled form."""

    def __init__(self, fn, before, after, hook):
        super().__init__(fn, before, after, hook)
        self.__dict__["_headway_fn"] = fn

    def __getattr__(self, attribute):
        if attribute == "_headway_fn":  # an object that is being copied does not have it yet
            raise AttributeError(attribute)
        found = getattr(self._headway_fn, attribute)
        return _lowers(self, found) if attribute == "lower" else found

    @property
    def __class__(self):
        return type(self._headway_fn)

    def __repr__(self):
        return repr(self._headway_fn)

    def __reduce_ex__(self, protocol):
        return self._headway_fn.__reduce_ex__(protocol)


# ---- jax.jit and its like


def _traced(function):
    inner = getattr(function, "__wrapped__", None)
    label = "jit(%s)" % (getattr(inner, "__name__", None) or getattr(function, "__name__", "function"))
    try:
        found = _known.get(inner)
        if found is None:
            found = _known[inner] = traced.Traced(label)
        return found
    except TypeError:  # the function allows no weak reference or no hash
        return traced.Traced(label)


def _calls(function):
    known = _traced(function)
    return _StandIn(function, *_around(known), "jax.jit")


def _around(known):

    def before(args, kwargs):
        _used.tell()
        return traced.begins(known)

    def after(token, error, result):
        if token is None:
            return
        if not error and (known.updates or known.gradients):
            _remember(result)
        traced.ends(token, error)

    return before, after


# Functions compiled ahead of time: lower() traces them, they are called later.
_lowered = weakref.WeakKeyDictionary()  # jax.stages.Lowered, jax.stages.Compiled -> Traced


def _lowers(function, lower):
    known = _traced(function._headway_fn)

    def after(before, error, result):
        traced.done(before)
        if not error:
            _lowered[result] = known

    return core.Wrapper(lower, lambda args, kwargs: traced.traces(known), after, "jax.lower")


def _after_compile(lowered, error, compiled):
    if not error and lowered in _lowered:
        _lowered[compiled] = _lowered[lowered]


def _before_compiled(args, kwargs):
    known = _lowered.get(args[0])
    token = traced.begins(known) if known is not None else None
    return token and (known, token)


def _after_compiled(token, error, result):
    if token is not None:
        known, call = token
        if not error and (known.updates or known.gradients):
            _remember(result)
        traced.ends(call, error)


def _after_compiler(token, error, result):
    """`result` is the compiled function or, when only options were given, a decorator that will return it."""
    if error or isinstance(result, nvtx.Call) or not callable(result):
        return None
    if hasattr(result, "lower"):
        return _calls(result)
    return core.Wrapper(result, None, _after_compiler, "jax.jit")


def _attach_compilers():
    for compiler in ("jit", "pmap"):
        core.wrap(_jax, compiler, None, _after_compiler, "jax." + compiler)
    stages = _jax.stages
    core.wrap(stages.Lowered, "compile", lambda args, kwargs: args[0], _after_compile, "jax.compile")
    core.wrap(stages.Compiled, "__call__", _before_compiled, _after_compiled, "jax.compiled")


# ---- gradients


def is_traced(arguments):
    """Whether the arguments are tracers: then another transformation is tracing this code."""
    return any(isinstance(one, _jax.core.Tracer) for one in _leaves(arguments))


def _before_gradient(args, kwargs):
    if not traced.is_inside() and is_traced(args):
        return None
    _used.tell()
    return traced.gradient_begins("jax.grad")


def _after_gradient(token, error, result):
    traced.gradient_ends(token, error)


def _after_transform(token, error, result):
    """jax.grad returns a Python function; a gradient begins when that function is called."""
    if error or isinstance(result, nvtx.Call) or not callable(result):
        return None
    return _StandIn(result, _before_gradient, _after_gradient, "jax.grad")


def _attach_gradients():
    for transform in ("grad", "value_and_grad"):
        core.wrap(_jax, transform, None, _after_transform, "jax." + transform)
    # jax.vjp calls the given function at once, and returns the function of the backward pass.
    core.wrap(_jax, "vjp", None, _after_vjp, "jax.vjp")


def _after_vjp(token, error, result):
    if not error and traced.is_inside():
        traced.gradient_begins("jax.vjp")


# ---- waiting for results


def _remember(result):
    """Keeps a small array of a step's results: all results are ready at the same time."""
    global _result
    _result = None
    for one in _leaves(result):
        if getattr(one, "nbytes", _SMALL) < _SMALL and hasattr(one, "is_ready"):
            _result = one
            break


def _computes():
    """Whether the latest step is still being computed."""
    return _result is not None and not _result.is_deleted() and not _result.is_ready()


def _before_wait(args, kwargs):
    if traced.is_inside():
        return None
    if args and hasattr(args[0], "is_ready") and (args[0].is_deleted() or args[0].is_ready()):
        return None
    return nvtx.push(name("jax: wait for results"), PHASE, FORWARD)


def _after_wait(token, error, result):
    if token is not None:
        nvtx.pop_to(token)


def _attach_waits():
    """Hooks waits for results. Conversions to numpy by the buffer protocol call nothing that can be hooked."""
    for function in ("block_until_ready", "device_get"):
        core.wrap(_jax, function, _before_wait, _after_wait, "jax.wait")
    array = _array_class()
    core.wrap(array, "block_until_ready", _before_wait, _after_wait, "jax.wait")
    # float(x), str(x), x.item() and the like ask for this property.
    value = vars(array).get("_value")
    if isinstance(value, property) and not isinstance(value.fget, nvtx.Call):
        array._value = property(core.Wrapper(value.fget, _before_wait, _after_wait, "jax.wait"), value.fset, value.fdel)


def _array_class():
    """The class of arrays with values. It is not public; making an array to get it would choose a device for the program."""
    import importlib

    return importlib.import_module("jax._src.array").ArrayImpl
