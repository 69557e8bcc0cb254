# SPDX-License-Identifier: MIT
"""What the hook costs a step of Keras, TensorFlow or JAX, µs: blocks of steps with it and without it, in random order in one process.

headway record -o h.sqlite -- python3 tests/bench/frameworks_hook_bench.py keras|tensorflow|jax [PAIRS]
"""
import random
import statistics
import sys
import time

import numpy as np

STEPS = 40


def keras_block():
    import keras

    x, y = np.random.rand(STEPS * 16, 32).astype("float32"), np.random.randint(0, 10, STEPS * 16)
    model = keras.Sequential([keras.Input((32,)), keras.layers.Dense(32), keras.layers.Dense(10)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return lambda: model.fit(x, y, batch_size=16, verbose=0, shuffle=False)


def tensorflow_block():
    import tensorflow as tf

    weights = tf.Variable(tf.ones((32, 10)))
    data = tf.data.Dataset.from_tensor_slices(tf.ones((STEPS * 16, 32))).batch(16)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(x, weights) ** 2)
        weights.assign_sub(0.01 * tape.gradient(loss, weights))

    def block():
        for batch in data:
            step(batch)

    return block


def jax_block():
    import jax
    import jax.numpy as jnp

    weights = {str(i): jnp.ones((32, 32)) * 0.01 for i in range(12)}
    x = jnp.ones((16, 32))

    def loss_of(weights):
        y = x
        for one in weights.values():
            y = jnp.tanh(y @ one)
        return y.sum()

    @jax.jit
    def step(weights):
        loss, gradients = jax.value_and_grad(loss_of)(weights)
        return jax.tree_util.tree_map(lambda w, g: w - 0.01 * g, weights, gradients), loss

    plain = getattr(step, "_headway_fn", step)
    state = [weights]

    def block(hooked=True):
        for _ in range(STEPS):
            state[0], loss = (step if hooked else plain)(state[0])
        loss.block_until_ready()

    return block


def hooks():
    """(owner, attribute, ours, theirs) of every function that the hook replaced in a class."""
    import gc

    from _headway_nvtx import Call

    found = []
    for owner in [one for one in gc.get_objects() if isinstance(one, type)]:
        for attribute, value in list(vars(owner).items()):
            if isinstance(value, Call) and not attribute.startswith("_headway"):
                found.append((owner, attribute, value, value.__wrapped__))
    return found


def main(framework, pairs):
    block = {"keras": keras_block, "tensorflow": tensorflow_block, "jax": jax_block}[framework]()
    block()
    places = hooks()
    differences, plain = [], []
    for _ in range(pairs):
        took = {}
        for hooked in random.sample([True, False], 2):
            for owner, attribute, ours, theirs in places:
                setattr(owner, attribute, ours if hooked else theirs)
            begin = time.perf_counter()
            block(hooked) if framework == "jax" else block()
            took[hooked] = (time.perf_counter() - begin) / STEPS * 1e6
        differences.append(took[True] - took[False])
        plain.append(took[False])
    means = [statistics.median(random.choices(differences, k=len(differences))) for _ in range(1000)]
    means.sort()
    print("%s: a step of %.0f us costs %.1f us more (95 %%: %.1f to %.1f), %d pairs of %d steps"
          % (framework, statistics.median(plain), statistics.median(differences), means[25], means[975], pairs, STEPS))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60)
