# SPDX-License-Identifier: MIT
"""Small programs of Keras, TensorFlow and JAX as people write them; nothing in here knows that it may be recorded.

frameworks_train.py keras FOLDER | keras_slow_input | keras_error | keras_several N | keras_on_batch arrays|tf_data | keras_loop graph|eager |
jax whole|apart|plain|ahead | jax_evaluates | jax_input slow|fast
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402

BATCHES = 10
BATCH = 32


def samples(width):
    generator = np.random.RandomState(0)
    rows = generator.rand(BATCHES * BATCH, width).astype("float32")
    return rows, generator.randint(0, 10, BATCHES * BATCH)


def keras_model(keras, width):
    keras.utils.set_random_seed(1)
    layers = [keras.Input((width,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)]
    model = keras.Sequential(layers)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def keras_fit(folder):
    """3 epochs of 8 batches, 2 of validation and a checkpoint after each; an evaluation and a prediction of 10."""
    import keras

    x, y = samples(64)
    model = keras_model(keras, 64)
    saver = keras.callbacks.ModelCheckpoint(os.path.join(folder, "model.keras"))
    options = {"validation_split": 0.2, "epochs": 3, "batch_size": BATCH, "verbose": 0, "callbacks": [saver]}
    history = model.fit(x, y, **options)
    print(history.history["loss"], model.evaluate(x, y, verbose=0), float(model.predict(x, verbose=0).sum()))


def keras_slow_input():
    """60 batches from tf.data, each of which takes longer to make than to train on."""
    import keras
    import tensorflow as tf

    def make(i):
        image = tf.random.stateless_uniform((300, 300), (i, i))
        for _ in range(10):
            image = tf.linalg.matmul(image, image) * 1e-2
        return tf.reshape(image, [-1])[:64], i % 10

    data = tf.data.Dataset.range(60 * 4).map(make, deterministic=True).batch(4).prefetch(1)
    print(keras_model(keras, 64).fit(data, epochs=1, verbose=0).history["loss"])


def keras_error():
    import keras

    class Stops(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 4:
                raise ValueError("stopped by the program")

    x, y = samples(64)
    keras_model(keras, 64).fit(x, y, batch_size=BATCH, verbose=0, callbacks=[Stops()])


def keras_several(steps):
    """2 epochs of 10 batches, of which one call of the compiled function runs several."""
    import keras

    x, y = samples(64)
    model = keras_model(keras, 64)
    criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", criterion, steps_per_execution=int(steps))
    print(model.fit(x, y, epochs=2, batch_size=BATCH, verbose=0).history["loss"])


def keras_on_batch(source):
    """2 epochs of 10 calls of train_on_batch, each with an evaluation of 10 batches."""
    import keras

    x, y = samples(64)
    model = keras_model(keras, 64)

    def batches():
        if source == "tf_data":
            import tensorflow as tf

            yield from tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)
        else:
            for i in range(0, len(x), BATCH):
                yield x[i : i + BATCH], y[i : i + BATCH]

    for _ in range(2):
        for images, labels in batches():
            loss = model.train_on_batch(images, labels)
        print(float(loss), model.evaluate(x, y, batch_size=BATCH, verbose=0))


def keras_loop(how):
    """A loop of the program's own: 3 epochs of 10 steps, each with an evaluation of 10 batches."""
    import keras
    import tensorflow as tf

    x, y = samples(64)
    train = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)
    model = keras_model(keras, 64)
    optimizer = keras.optimizers.SGD(0.1)
    criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    right = keras.metrics.SparseCategoricalAccuracy()

    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = criterion(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_weights)
        optimizer.apply_gradients(zip(gradients, model.trainable_weights))
        return loss

    def test_step(images, labels):
        right.update_state(labels, model(images, training=False))

    if how == "graph":
        train_step, test_step = tf.function(train_step), tf.function(test_step)
    for _ in range(3):
        for images, labels in train:
            loss = train_step(images, labels)
        for images, labels in train:
            test_step(images, labels)
        print(float(loss), float(right.result()))


def jax_loop(how):
    """30 updates: in one compiled function with optax, only gradients compiled, without optax, compiled ahead of time."""
    import jax
    import jax.numpy as jnp

    x, y = samples(64)
    weights = {"w": jnp.full((64, 10), 0.01), "b": jnp.zeros(10)}

    def loss_of(weights, x, y):
        logits = jnp.tanh(x @ weights["w"]) + weights["b"]
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(y.shape[0]), y])

    if how == "plain":

        @jax.jit
        def step(weights, state, x, y):
            loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
            return jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, gradients), state, loss

        state = None
    else:
        import optax

        rule = optax.adam(1e-2)
        state = rule.init(weights)

        def step(weights, state, x, y):
            loss, gradients = gradients_of(weights, x, y)
            updates, state = rule.update(gradients, state, weights)
            return optax.apply_updates(weights, updates), state, loss

        gradients_of = jax.value_and_grad(loss_of)
        if how == "apart":
            gradients_of = jax.jit(gradients_of)
        else:
            step = jax.jit(step, donate_argnums=(0, 1))
        if how == "ahead":
            step = step.lower(weights, state, x[:BATCH], y[:BATCH]).compile()
    for _ in range(3):
        for i in range(0, len(x), BATCH):
            weights, state, loss = step(weights, state, x[i : i + BATCH], y[i : i + BATCH])
        print(repr(float(loss)), repr(float(weights["w"].sum())))


def jax_evaluates():
    """3 epochs of 10 updates, each with an evaluation of 20 compiled calls; no loader. Each step has a compiled preparation, too."""
    import jax
    import jax.numpy as jnp

    x, y = samples(64)
    weights = {"w": jnp.full((64, 10), 0.01), "b": jnp.zeros(10)}

    def loss_of(weights, x, y):
        logits = jnp.tanh(x @ weights["w"]) + weights["b"]
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(y.shape[0]), y])

    @jax.jit
    def prepared(x):
        return x * 2 - 1

    @jax.jit
    def step(weights, x, y):
        gradients = jax.grad(loss_of)(weights, x, y)
        return jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, gradients)

    @jax.jit
    def validated(weights, x, y):
        return loss_of(weights, x, y)

    for _ in range(3):
        for i in range(0, len(x), BATCH):
            weights = step(weights, prepared(x[i : i + BATCH]), y[i : i + BATCH])
        print(sum(float(validated(weights, x[i : i + BATCH], y[i : i + BATCH])) for i in range(0, len(x), BATCH) for _ in range(2)))


def jax_input(how):
    """60 steps fed by tf.data. Slow: a batch takes longer than a step. Fast: the step outlasts the next batch."""
    import jax
    import jax.numpy as jnp
    import optax
    import tensorflow as tf

    products = {"slow": (60, 1), "fast": (1, 30)}[how]

    def make(i):
        image = tf.random.stateless_uniform((200, 200), (i, i))
        for _ in range(products[0]):
            image = tf.linalg.matmul(image, image) * 1e-2
        return image

    @jax.jit
    def step(weights, x):
        def loss_of(weights):
            y = x
            for _ in range(products[1]):
                y = jnp.tanh(y @ weights)
            return y.sum()

        loss, gradients = jax.value_and_grad(loss_of)(weights)
        return optax.apply_updates(weights, -1e-6 * gradients), loss

    weights = jnp.full((200, 200), 0.01)
    for image in tf.data.Dataset.range(60).map(make).as_numpy_iterator():
        weights, loss = step(weights, image)
    print(repr(float(loss)))


PROGRAMS = {
    "keras": keras_fit,
    "keras_slow_input": keras_slow_input,
    "keras_error": keras_error,
    "keras_several": keras_several,
    "keras_on_batch": keras_on_batch,
    "keras_loop": keras_loop,
    "jax": jax_loop,
    "jax_evaluates": jax_evaluates,
    "jax_input": jax_input,
}
if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
