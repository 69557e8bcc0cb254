"""A training program in PyTorch, on the processor.

train.py [SWITCH VALUE]... [--metrics FILE] [--data-dir DIR]    trains; FILE gets when each step began
train.py [SWITCH VALUE]... --switches                           what can be set, as JSON
train.py --serve                                                a run for each line read, a JSON list of words; answers its exit status"""
import gc
import json
import mmap
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback

import switches


def loader_of(values, folder, samples, rank):
    from data import Collate, dataset
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler
    data, workers, ranks = dataset(values, folder, samples), int(values["workers"]), int(values["ranks"])
    options = {"prefetch_factor": int(values["prefetch"]), "persistent_workers": values["persistent_workers"] == "on"} if workers else {}
    sampler = DistributedSampler(data, ranks, rank) if ranks > 1 else None
    return DataLoader(data, int(values["batch"]), sampler is None, sampler, num_workers=workers, collate_fn=Collate(values), drop_last=True, **options)


def distributed(values, net):
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
    from torch.nn.parallel import DistributedDataParallel
    net = DistributedDataParallel(net, bucket_cap_mb=float(values["bucket_mb"]), static_graph=values["static_graph"] == "on",
                                  find_unused_parameters=values["find_unused"] == "on")
    if values["compress"] == "fp16":
        net.register_comm_hook(None, default_hooks.fp16_compress_hook)
    return net


def optimizer_of(values, parameters):
    import torch
    how = {"foreach": values["update"] == "foreach", "fused": values["update"] == "fused"}
    if values["optimizer"] == "adamw":
        return torch.optim.AdamW(parameters, 1e-3, **how)
    return torch.optim.SGD(parameters, 1e-2, momentum=0.9, **how)


def evaluate(net, loader):
    """A few batches, held in memory."""
    import torch
    if not hasattr(evaluate, "batches"):
        evaluate.batches = [loader.collate_fn([loader.dataset[i] for i in range(loader.batch_size)]) for _ in range(2)]
    net.eval()
    with torch.no_grad():
        for inputs, _ in evaluate.batches:
            net(inputs)
    net.train()


def save(state, path, how):
    """Beside the training: of a copy of the state, when the checkpoint before has been written."""
    import copy
    import threading

    import torch
    if how == "step":
        return torch.save(state, path)
    if hasattr(save, "writer"):
        save.writer.join()
    save.writer = threading.Thread(target=torch.save, args=(copy.deepcopy(state), path))
    save.writer.start()


def keep_memory():
    """What is freed stays with the process. Else the C library gives large tensors back to the system and fetches them again, in some runs in each
    step and in others never: one program took 5 to 6.5 ms a step in four runs, with 900 to 1,500 page faults in each, and 3.3 to 4.1 without."""
    import ctypes
    trim_threshold, mmap_threshold = -1, -3
    library = ctypes.CDLL(None)
    library.mallopt(trim_threshold, 1 << 30)
    library.mallopt(mmap_threshold, 1 << 30)


def train(values, others, rank):
    """Returns when each step began, and when the last one ended."""
    import contextlib

    import torch
    from models import model
    torch.set_num_threads(1)
    torch.manual_seed(1)
    ranks, accumulate = int(values["ranks"]), int(values["accumulate"])
    if ranks > 1:
        torch.distributed.init_process_group("gloo", f"file://{others['rendezvous']}", rank=rank, world_size=ranks)
    plain = model(values)
    layout = torch.channels_last if values["channels_last"] == "on" else torch.contiguous_format
    if values["model"] != "language":
        plain = plain.to(memory_format=layout)
    net = distributed(values, plain) if ranks > 1 else plain
    optimizer = optimizer_of(values, net.parameters())
    loader = loader_of(values, others["data_dir"], int(values["epoch_steps"]) * int(values["batch"]) * accumulate * ranks, rank)
    pause = float(values["slow_rank_ms"]) / 1e3 if rank == ranks - 1 else 0
    eval_every, checkpoint_every = int(values["eval_every"]), int(values["checkpoint_every"])
    starts, recent = [], []
    if values["memory"] == "kept":
        keep_memory()
    gc.collect()
    gc.freeze()  # what imports left: going through it once takes as long as 30 steps, which short runs cannot share out
    begun = time.perf_counter()
    for _ in range(int(values["epochs"])):
        start = time.perf_counter() - begun
        for i, (inputs, targets) in enumerate(loader):
            updates = (i + 1) % accumulate == 0
            if i % accumulate == 0:
                starts.append(start)
            if inputs.ndim == 4:
                inputs = inputs.to(memory_format=layout)
            quiet = ranks > 1 and not updates and values["no_sync"] == "on"
            with net.no_sync() if quiet else contextlib.nullcontext():
                loss = plain.loss(net(inputs), targets) / accumulate
                loss.backward()
            if values["loss_read"] == "step":
                recent.append(loss.item())
            elif updates and len(starts) % 20 == 0:
                recent.append(loss.item())
            if updates:
                if pause:
                    time.sleep(pause)
                optimizer.step()
                optimizer.zero_grad()
                if eval_every and len(starts) % eval_every == 0:
                    evaluate(plain, loader)
                if checkpoint_every and len(starts) % checkpoint_every == 0 and rank == 0:
                    state = {"model": plain.state_dict(), "optimizer": optimizer.state_dict()}
                    save(state, os.path.join(others["scratch"], "checkpoint.pt"), values["checkpoint"])
            start = time.perf_counter() - begun
    if hasattr(save, "writer"):
        save.writer.join()
    end = time.perf_counter() - begun
    if ranks > 1:
        torch.distributed.destroy_process_group()
    return starts, end


def train_rank(values, others, rank):
    starts, end = train(values, others, rank)
    if rank == 0 and "metrics" in others:
        length = len(starts) // int(values["epochs"])
        with open(others["metrics"], "w") as file:
            json.dump({"warm_up_steps": length, "epoch_steps": length, "end_s": end, "steps": [{"start_s": start} for start in starts]}, file)


def start_rank(words, values, others, rank, served):
    """Another process for a rank, as launchers start them: its exit status is waited for by what is returned."""
    if served:
        if child := os.fork():
            return lambda: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        status = 1
        try:
            train_rank(values, others, rank)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    environment = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": values["ranks"], "LOCAL_WORLD_SIZE": values["ranks"]}
    command = [sys.executable, os.path.abspath(__file__), *words, "--rank", str(rank), "--rendezvous", others["rendezvous"]]
    return subprocess.Popen(command, env=environment).wait


def main(words, served=False):
    try:
        values, others = switches.parse(list(words))
    except switches.Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 2
    if "switches" in others:
        print(switches.described(values))
        return 0
    others.setdefault("data_dir", os.path.join(tempfile.gettempdir(), "sweep data"))
    with tempfile.TemporaryDirectory() as scratch:
        others["scratch"] = scratch
        if "rank" in others or values["ranks"] == "1":
            train_rank(values, others, int(others.get("rank", 0)))
            return 0
        others["rendezvous"] = os.path.join(scratch, "rendezvous")
        waits = [start_rank(words, values, others, rank, served) for rank in range(int(values["ranks"]))]
        return max(abs(wait()) for wait in waits)


def another_layout():
    """Memory that this process places as no other one does. Where its data lie a program is up to a fifth slower, and all forks of
    one process place them alike: one change would meet that in each round, another one never."""
    drawn = random.Random(os.getpid() ^ time.monotonic_ns())
    return [bytearray(drawn.randrange(16, 1 << 16)) for _ in range(64)] + [mmap.mmap(-1, drawn.randrange(1, 1 << 10) * mmap.PAGESIZE)]


def serve():
    import data, models  # noqa: E401, F401 imported once, for all runs, with what PyTorch imports late
    import torch._dynamo
    import torch.distributed.algorithms.ddp_comm_hooks.default_hooks  # noqa: F401
    for line in sys.stdin:
        sys.stderr.flush()
        if child := os.fork():
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            continue
        status = 1
        try:
            os.dup2(2, 1)
            kept = another_layout()  # noqa: F841
            status = main(json.loads(line), True)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        sys.exit(main(sys.argv[1:]))
