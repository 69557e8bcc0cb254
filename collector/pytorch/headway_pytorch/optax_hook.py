# SPDX-License-Identifier: MIT
"""Updates by optax: inside a compiled function they show that it trains, elsewhere they end a step."""
from headway_pytorch import core, jax_hook, traced


def _before(args, kwargs):
    if not traced.is_inside() and jax_hook.is_traced(args):
        return None
    return traced.update_begins("optax.apply_updates")


def _after(token, error, result):
    traced.update_ends(token, error, _after)


def attach(optax):
    core.wrap(optax, "apply_updates", _before, _after, "optax")
