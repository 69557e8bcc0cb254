#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `headway record` takes of a CUDA program, against the known numbers of cuda_program.cu. Traces stay in RESULTS.
Usage: check_collector.py PROGRAMS RESULTS (run by scripts/gpu_check.sh). Exit code 77: no GPU."""
import os
import pathlib
import sqlite3
import subprocess
import sys

PROGRAMS, RESULTS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
STEPS = 20
failed = False


def check(name, holds, detail=""):
    global failed
    failed |= not holds
    print(f"{'ok  ' if holds else 'FAIL'} {name}{': ' if detail else ''}{detail}", flush=True)


def note(name, detail):
    print(f"     {name}: {detail}", flush=True)


def libraries():
    """Folders with libcupti, from the toolkit or from Python packages."""
    found = [str(p.parent) for pattern in ("/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1*", "/usr/local/cuda*/lib64/libcupti.so.1*")
             for p in sorted(pathlib.Path("/").glob(pattern[1:]))]
    for folder in sys.path:
        found += [str(p.parent) for p in sorted(pathlib.Path(folder or ".").glob("nvidia/*/lib/libcupti.so.1*"))]
    return found


def record(name, command, options=()):
    trace = RESULTS / f"{name}.sqlite"
    path = ":".join(libraries() + [os.environ.get("LD_LIBRARY_PATH", "")]).strip(":")
    child = subprocess.run([PROGRAMS / "headway", "record", "--force", "-o", trace, *options, "--", *command],
                           capture_output=True, text=True, timeout=120, env={**os.environ, "LD_LIBRARY_PATH": path})
    if child.returncode == 77:
        print("no usable CUDA device: " + child.stderr.strip())
        sys.exit(77)
    return child, sqlite3.connect(f"file:{trace}?mode=ro", uri=True)


def one(db, query):
    try:
        return (db.execute(query).fetchone() or (0,))[0] or 0
    except sqlite3.OperationalError as error:
        return 0 if "no such table" in str(error) else sys.exit(f"{query}: {error}")


def rows(db, table):
    return one(db, f"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_{table}")


def losses(db):
    if not one(db, "SELECT count(*) FROM sqlite_master WHERE name = 'HEADWAY_LOSS'"):
        return {}
    return {name: count for name, count in db.execute("SELECT name, sum(count) FROM HEADWAY_LOSS GROUP BY 1")
            if name not in ("process_not_injected",)}


def check_steps():
    child, db = record("cuda_steps", [PROGRAMS / "cuda_program", "steps", str(STEPS)])
    state = one(db, "SELECT value FROM HEADWAY_META WHERE name = 'cuda'")
    check("CUDA is recorded", str(state).startswith("on:"), str(state))
    check("the program ended well", child.returncode == 0, f"exit code {child.returncode}")
    check("kernels", rows(db, "KERNEL") == 4 * STEPS, f"{rows(db, 'KERNEL')} of {4 * STEPS}")
    check("copies", rows(db, "MEMCPY") == 2 * STEPS, f"{rows(db, 'MEMCPY')} of {2 * STEPS}")
    check("sets", rows(db, "MEMSET") == STEPS, f"{rows(db, 'MEMSET')} of {STEPS}")
    copied = one(db, "SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY")
    check("bytes copied", copied == 2 * STEPS * 4 << 20, str(copied))
    waits = one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE syncType = 3")
    check("waits for streams", waits == 2 * STEPS, f"{waits} of {2 * STEPS}")
    joined = one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION w JOIN CUPTI_ACTIVITY_KIND_CUDA_EVENT e "
                     "ON w.eventSyncId = e.eventSyncId WHERE w.syncType = 2")
    check("waits of streams name the record they wait for", joined == STEPS, f"{joined} of {STEPS}")
    names = {row[0] for row in db.execute("SELECT DISTINCT s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName")}
    check("names of kernels", names == {"scale", "add"}, ", ".join(sorted(names)))
    launched = one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId")
    check("each kernel has one launching call", launched == 4 * STEPS, f"{launched} rows")
    early = one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r "
                    "ON r.correlationId = k.correlationId WHERE k.start < r.start")
    check("no kernel starts before its call", early == 0, f"{early}")
    inside = one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN NVTX_EVENTS n ON k.start >= n.start AND k.end <= n.end WHERE n.eventType = 59")
    check("kernels lie in the ranges of their steps", inside == 4 * STEPS, f"{inside} of {4 * STEPS}")
    check("nothing was lost", not losses(db), str(losses(db) or ""))
    for row in db.execute("SELECT name, smCount, memoryBandwidth / 1e9, clockRate / 1e9 FROM TARGET_INFO_GPU"):
        note("device", "{}, {} multiprocessors, {:.0f} GB/s, {:.2f} GHz".format(*row))
    calls = dict(db.execute("SELECT s.value, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId GROUP BY 1"))
    note("calls", ", ".join(f"{name} {count}" for name, count in sorted(calls.items())))


def check_graphs():
    _, nodes = record("cuda_graph_nodes", [PROGRAMS / "cuda_program", "graph", str(STEPS)])
    check("graph nodes", rows(nodes, "KERNEL") == 3 * STEPS, f"{rows(nodes, 'KERNEL')} of {3 * STEPS}")
    told_apart = one(nodes, "SELECT count(DISTINCT graphNodeId) FROM CUPTI_ACTIVITY_KIND_KERNEL")
    check("nodes are told apart", told_apart == 3, f"{told_apart}")
    _, whole = record("cuda_graph_whole", [PROGRAMS / "cuda_program", "graph", str(STEPS)], ["--cuda-graph", "graph"])
    check("whole graphs", rows(whole, "GRAPH_TRACE") == STEPS, f"{rows(whole, 'GRAPH_TRACE')} of {STEPS}")


def check_demand():
    child, db = record("cuda_demand", [PROGRAMS / "cuda_program", "steps", str(STEPS)],
                       ["--cuda-memory", "--cuda-latency", "--counter-rate", "20"])
    check("the program ended well with everything on demand", child.returncode == 0, f"exit code {child.returncode}")
    allocations = one(db, "SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memoryOperationType = 0 AND memKind = 2")
    check("allocations of device memory", allocations > 0, f"{allocations}")
    queued = one(db, "SELECT count(*) FROM HEADWAY_KERNEL_LATENCY l JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.rowid = l.kernelRow "
                     "WHERE l.queued <= l.submitted AND l.submitted <= k.start")
    check("kernels were queued, then submitted, then started", queued == rows(db, "KERNEL"), f"{queued} of {rows(db, 'KERNEL')}")
    state = one(db, "SELECT value FROM HEADWAY_META WHERE name = 'gpu_counters'")
    check("the GPU is asked", state == "on", str(state))
    for name, low, high in (("gpu.sm_clock", 1e8, 4e9), ("gpu.memory_used", 1e8, 1e12), ("gpu.power", 10, 1500),
                            ("gpu.temperature", 5, 110), ("gpu.utilisation", 0, 100), ("gpu.sm_active", 0, 100)):
        found = db.execute("SELECT count(*), min(v.value), max(v.value) FROM HEADWAY_COUNTER v JOIN HEADWAY_COUNTER_SERIES s "
                           "ON s.id = v.seriesId WHERE s.name = ?", (name,)).fetchone()
        check(name, found[0] > 0 and found[1] >= low and found[2] <= high, f"{found[0]} samples, {found[1]} to {found[2]}")
    same = one(db, "SELECT count(DISTINCT s.deviceId) FROM HEADWAY_COUNTER_SERIES s JOIN TARGET_INFO_GPU g ON g.id = s.deviceId")
    check("NVML's and CUPTI's devices are the same", same >= 1, f"{same}")
    note("cost of handing over", one(db, "SELECT value FROM HEADWAY_META WHERE name = 'cuda_overhead_ns'"))


def check_kill():
    child, db = record("cuda_killed", [PROGRAMS / "cuda_program", "kill", str(STEPS)])
    check("SIGKILL is told", child.returncode == 137, f"exit code {child.returncode}")
    check("what had run before SIGKILL is there", rows(db, "KERNEL") >= 4 * STEPS, f"{rows(db, 'KERNEL')} of {4 * STEPS}")
    unnamed = one(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName WHERE s.value LIKE 'kernel@%'")
    note("kernels without a name", unnamed)
    note("losses", losses(db))


TORCH = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(30):
    optimizer.zero_grad()
    model(torch.randn(256, 1024, device='cuda')).square().mean().backward()
    optimizer.step()
torch.cuda.synchronize()
"""


def check_torch():
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode != 0:
        note("PyTorch", "not installed here")
        return
    child, db = record("torch", [sys.executable, "-c", TORCH])
    check("PyTorch runs and is recorded", child.returncode == 0 and rows(db, "KERNEL") > 300, f"{rows(db, 'KERNEL')} kernels")
    check("nothing of it was lost", not losses(db), str(losses(db) or ""))


for stage in (check_steps, check_graphs, check_demand, check_kill, check_torch):
    stage()
sys.exit(failed)
