#!/usr/bin/env python3
"""Profiles of JAX and TensorFlow against an independent reading of their protobuf: xplane_test.py BIN_FOLDER jax|tensorflow, or
xplane_test.py BIN_FOLDER files FILE... for files of others. Prints "[skipped]" and why without the packages. Exit status 0: passed."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

HEADWAY = str(pathlib.Path(sys.argv[1]).resolve() / "headway")
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-", "ragged-all-to-all")

JAX_PROGRAM = """
import os, sys, time
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=" + sys.argv[2]
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
@jax.jit
def train_step(p, x):
    def loss(p):
        return jnp.mean((jnp.tanh(x @ p[0]) @ p[1]) ** 2)
    l, g = jax.value_and_grad(loss)(p)
    return [a - 0.01 * b for a, b in zip(p, g)], l
p = [jnp.ones((256, 512)) * .01, jnp.ones((512, 64)) * .01]
split = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), PartitionSpec("d", None))
x = jax.device_put(jnp.ones((128, 256)), split)
p, l = train_step(p, x)
l.block_until_ready()
with jax.profiler.trace(sys.argv[1]):
    for i in range(12):
        with jax.profiler.StepTraceAnnotation("train", step_num=i):
            time.sleep(0.001)
            p, l = train_step(p, x)
            l.block_until_ready()
"""

TENSORFLOW_PROGRAM = """
import sys, tensorflow as tf
data = tf.data.Dataset.range(1200).map(lambda i: (tf.random.stateless_normal((64,), [i, 1]), i % 10), num_parallel_calls=2)
data = data.batch(32).prefetch(2)
model = tf.keras.Sequential([tf.keras.Input((64,)), tf.keras.layers.Dense(128, activation="relu"), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.SGD(.01)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        l = loss(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(l, model.trainable_variables), model.trainable_variables))
batches = iter(data)
step(*next(batches))
tf.profiler.experimental.start(sys.argv[1])
for i in range(20):
    with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
        step(*next(batches))
tf.profiler.experimental.stop()
"""


def skip(why):
    print(f"[skipped] {why}")
    sys.exit(0)


def reader():
    try:
        from tensorflow.tsl.profiler.protobuf import xplane_pb2
        return xplane_pb2
    except ImportError as error:
        skip(f"no independent reader of XPlane: {error} (pip install tensorflow-cpu)")


def union(intervals):
    total, end = 0, None
    for begin, stop in sorted(intervals):
        if end is None or begin > end:
            total += stop - begin
            end = stop
        elif stop > end:
            total += stop - end
            end = stop
    return total


def expected(path):
    """Steps, ops by name, and the parts of each device's time, as the protobuf tells them."""
    space = reader().XSpace()
    space.ParseFromString(path.read_bytes())
    steps = 0
    devices = collections.defaultdict(list)  # ordinal: (class, begin, end)
    accelerator = any(p.name.startswith(("/device:GPU", "/device:TPU")) and any(line.events for line in p.lines) for p in space.planes)
    kernels = collections.Counter()
    for plane in space.planes:
        names = plane.stat_metadata

        def stats(event):
            found = {}
            for stat in event.stats:
                which = stat.WhichOneof("value")
                value = getattr(stat, which)
                found[names[stat.metadata_id].name] = names[value].name if which == "ref_value" else value
            return found

        for line in plane.lines:
            nested_until = -1
            rows = [(line.timestamp_ns + e.offset_ps // 1000, line.timestamp_ns + (e.offset_ps + e.duration_ps) // 1000, e) for e in line.events]
            for begin, end, event in sorted(rows, key=lambda row: (row[0], -row[1])):
                kind = plane.event_metadata[event.metadata_id]
                found = stats(event)
                if plane.name.startswith("/host:") and "step_num" in found and begin >= nested_until:
                    steps += 1
                    nested_until = end
                if plane.name.startswith("/device:GPU:") and line.name.startswith("Stream"):
                    what = "compute"
                    if "memcpy_details" in found or kind.name.startswith("Memcpy"):
                        what = "copy"
                    elif "memset_details" in found or kind.name.startswith("Memset"):
                        what = "memset"
                    elif found.get("hlo_op", "").startswith(COLLECTIVES) or "nccl" in kind.name:
                        what = "comm"
                    devices[int(plane.name.rsplit(":", 1)[1])].append((what, begin, end))
                    if what in ("compute", "comm"):
                        kernels[kind.name] += 1
                elif plane.name.startswith("/host:") and not accelerator:
                    if "hlo_op" in found:
                        op = kind.name
                    elif kind.display_name and kind.name.endswith(":" + kind.display_name) and not line.name.startswith("tf_data"):
                        op = kind.display_name
                        if op == "IteratorGetNext" or "OptionalFromIterator" in op:
                            continue
                    else:
                        continue
                    what = "comm" if found.get("hlo_op", "").startswith(COLLECTIVES) else "compute"
                    devices[found.get("device_ordinal", 0)].append((what, begin, end))
                    kernels[op] += 1
    return steps, kernels, devices


def tables(path, *names):
    result = subprocess.run([HEADWAY, "stats", str(path), *names, "--json"], capture_output=True, text=True, timeout=200)
    assert result.returncode == 0, result.stderr
    return {table["id"]: table["rows"] for table in json.loads(result.stdout)["tables"]}


def check(path):
    steps, kernels, devices = expected(path)
    report = subprocess.run([HEADWAY, "report", str(path), "--json"], capture_output=True, text=True, timeout=200)
    assert report.returncode == 0, report.stderr
    found_steps = json.loads(report.stdout)["steps"]
    if steps:
        assert found_steps["count"] == steps, (found_steps, steps)
    found = tables(path, "devices", "kernels")
    for ordinal, ops in devices.items():
        row = next(r for r in found["devices"] if r["device"] == ordinal)
        of = collections.defaultdict(list)
        for what, begin, end in ops:
            of["compute" if what == "memset" else what].append((begin, end))
        compute, busy, every = union(of["compute"]), union(of["compute"] + of["comm"]), union([(b, e) for _, b, e in ops])
        span = max(e for _, _, e in ops) - min(b for _, b, _ in ops)
        want = {"span_ns": span, "compute_ns": compute, "exposed_comm_ns": busy - compute, "exposed_copy_ns": every - busy,
                "idle_ns": span - every, "copies": len(of["copy"]), "memsets": sum(what == "memset" for what, _, _ in ops)}
        for key, value in want.items():
            assert row[key] == value, (path.name, ordinal, key, row[key], value)
    counted = {row["kernel"]: row["count"] for row in found["kernels"]}
    for name, count in kernels.items():
        assert counted.get(name) == count, (path.name, name, counted.get(name), count)
    print(f"{path.name}: {steps} steps, {sum(kernels.values())} ops of {len(kernels)} kinds on {len(devices)} devices agree to the ns")


def record(program, folder, devices):
    result = subprocess.run([sys.executable, "-c", program, folder, str(devices)], capture_output=True, text=True, timeout=250)
    assert result.returncode == 0, result.stderr[-2000:]
    files = list(pathlib.Path(folder).glob("plugins/profile/*/*.xplane.pb"))
    assert len(files) == 1, files
    return files[0]


def main():
    case = sys.argv[2]
    if case == "files":
        for name in sys.argv[3:]:
            check(pathlib.Path(name))
        return
    reader()
    if case == "jax":
        try:
            import jax  # noqa: F401
        except ImportError as error:
            skip(f"{error} (pip install jax)")
    for devices in (1, 2) if case == "jax" else (1,):
        with tempfile.TemporaryDirectory() as folder:
            path = record(JAX_PROGRAM if case == "jax" else TENSORFLOW_PROGRAM, folder, devices)
            check(path)
            assert len(tables(path, "devices")["devices"]) == devices
            # The log folder stands for the file, also with what JAX writes beside it.
            text = subprocess.run([HEADWAY, "report", folder], capture_output=True, text=True, timeout=200)
            assert text.returncode == 0 and "Verdict" in text.stdout and "ranks" not in text.stdout, text.stdout + text.stderr


main()
