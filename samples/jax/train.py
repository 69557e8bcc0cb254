# SPDX-License-Identifier: MIT
"""A small JAX program that records itself with jax.profiler: `python3 train.py profile && headway report profile`."""
import sys
import time

import jax
import jax.numpy as jnp


@jax.jit
def step(weights, x, y):
    def loss(w):
        return jnp.mean((jnp.tanh(x @ w[0]) @ w[1] - y) ** 2)

    gradients = jax.grad(loss)(weights)
    return [w - 0.01 * g for w, g in zip(weights, gradients)]


def next_batch(i):
    time.sleep(0.02)  # a slow input pipeline
    return jnp.full((64, 256), i / 30), jnp.ones((64, 16))


def main(folder):
    weights = [jnp.ones((256, 256)) * 0.01, jnp.ones((256, 16)) * 0.01]
    weights = step(weights, *next_batch(0))  # compiles
    with jax.profiler.trace(folder):
        for i in range(30):
            with jax.profiler.StepTraceAnnotation("train", step_num=i):
                x, y = next_batch(i)
                weights = jax.block_until_ready(step(weights, x, y))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "profile")
