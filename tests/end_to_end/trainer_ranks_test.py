#!/usr/bin/env python3
"""Ranks of the reference trainer from start to report: trainer_ranks_test.py BIN_FOLDER CASE. Exit status 0: passed."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1])
HEADWAY = str(BIN / "headway")
TRAIN = str(BIN / "headway-train")
TINY = ["--data", "generated", "--source", "memory", "--depth", "8", "--width", "8", "--batch", "8", "--samples", "400",
        "--threads", "1", "--eval", "off"]


def run(*command, expect=0):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=200)
    assert result.returncode == expect, f"{command}: exit {result.returncode}, expected {expect}\n{result.stdout}\n{result.stderr}"
    return result


def report(*files):
    return json.loads(run(HEADWAY, "report", *files, "--json").stdout)


def finding(result, rule):
    return [f for f in result["findings"] if f["rule"] == rule][0]


def recorded(folder):
    """The processes of one host in one file: their collectives are matched by what they say through NVTX."""
    trace = folder / "a run.sqlite"
    run(HEADWAY, "record", "-o", trace, "--", TRAIN, *TINY, "--ranks", "3", "--steps", "30", "--slow-rank", "1",
        "--slow-rank-ms", "60", "--bucket-mb", "0.05", "--first-bucket-mb", "0.02")
    result = report(trace)
    assert result["trace"]["ranks"] == 3, result["trace"]
    assert result["matching"]["matched"] > 50 and result["matching"]["unmatched"] == 0, result["matching"]
    straggler = finding(result, "straggler")
    assert straggler["status"] == "found", straggler
    late = [r for r in result["ranks"] if r["rank"] == 1][0]
    assert 40e6 < late["caused_wait_ns"] < 90e6, late


def pipeline(folder):
    """Stages on one host: messages are matched, the rule names the bubble, and twice the micro batches are predicted to gain."""
    trace = folder / "stages.sqlite"
    run(HEADWAY, "record", "-o", trace, "--", TRAIN, "--preset", "pipeline-bubble", "--steps", "30", "--threads", "1")
    result = report(trace)
    assert result["trace"]["ranks"] == 2, result["trace"]
    # A step has two activations and two gradients.
    assert result["matching"]["matched"] > 4 * 25 and result["matching"]["unmatched"] == 0, result["matching"]
    bubble = finding(result, "pipeline-bubble")
    assert bubble["status"] == "found" and "2 stages" in bubble["claim"], bubble
    fixes = {f["id"]: f for f in json.loads(run(HEADWAY, "whatif", trace, "--json").stdout)["fixes"]}
    for fix in ("more-micro-batches", "fewer-micro-batches"):
        assert fixes[fix]["applies"], fixes[fix]
    assert fixes["more-micro-batches"]["step_ns"] < fixes["fewer-micro-batches"]["step_ns"], fixes


def late_gathers(folder):
    """Shared parameters on processors: the recording tells late all-gathers from early ones, and the gain is predicted."""
    def record(name, *switches):
        # Slow emulated memory and links: the times are those of the emulation on busy processors, too.
        run(HEADWAY, "record", "-o", folder / name, "--", TRAIN, "--preset", "late-all-gather", "--memory-gb-per-s", "0.2",
            "--node-gb-per-s", "0.008", "--steps", "16", "--threads", "1", *switches)
        return folder / name

    late = record("late.sqlite")
    assert finding(report(late), "late-all-gather")["status"] == "found", finding(report(late), "late-all-gather")
    fixes = json.loads(run(HEADWAY, "whatif", late, "--json").stdout)["fixes"]
    fix = [fix for fix in fixes if fix["id"] == "prefetch-all-gathers"][0]
    assert fix["applies"] and 0.15 < fix["gain_share"] < 0.6, fix
    ahead = record("ahead.sqlite", "--gather-prefetch", "on")
    assert finding(report(ahead), "late-all-gather")["status"] == "fine", finding(report(ahead), "late-all-gather")


def simulated(folder):
    """A file per rank of a simulated run: the report finds what was planted, as the oracle says."""
    command = [TRAIN, "--preset", "straggler", "--device", "sim", "--data", "generated", "--source", "memory", "--steps", "20",
               "--trace", folder / "rank%r.sqlite", "--oracle", folder / "oracle.json"]
    run(*command)
    files = sorted(folder.glob("rank*.sqlite"))
    assert len(files) == 4, files
    oracle = json.loads((folder / "oracle.json").read_text())
    result = report(*files)
    assert finding(result, oracle["planted"]["rule"])["status"] == "found"
    late = [r for r in result["ranks"] if r["rank"] == 2][0]
    gain = oracle["without_planted"]["gain_ns_per_step"]
    assert abs(late["caused_wait_ns"] - gain) < 0.1 * gain, (late, gain)
    assert any("simulated" in d["text"] for d in result["doubts"])


def mpirun(folder):
    """Four ranks under mpirun end where one rank with four micro batches ends."""
    launcher = shutil.which("mpirun")
    if not launcher:
        print("[skipped] mpirun is not installed")
        return
    launch = [launcher, "--allow-run-as-root", "--oversubscribe", "-n", "4"]
    comm = ["--comm", "mpi"]
    if b"libmpi" not in subprocess.run(["ldd", TRAIN], capture_output=True).stdout:
        comm = []  # shared memory
        error = subprocess.run([*launch, TRAIN, *TINY, "--comm", "mpi"], capture_output=True, text=True, timeout=110)
        assert error.returncode != 0 and "no MPI" in error.stderr, error
    run(*launch, TRAIN, *TINY, "--steps", "10", "--metrics", folder / "four.json")
    run(TRAIN, *TINY, "--steps", "10", "--accumulate", "4", "--metrics", folder / "one.json")
    losses = [[step["loss"] for step in json.loads((folder / name).read_text())["steps"]] for name in ("four.json", "one.json")]
    # Rank 0's loss is that of its own quarter: the first micro batch's, not the mean of all four.
    assert all(abs(a - b) < 1.0 for a, b in zip(*losses)), losses
    assert losses[0][-1] < losses[0][0], losses
    # Each process records its rank, and the first one speaks, though the program has ended MPI by then.
    told = run(*launch, HEADWAY, "run", "--no-html", "-o", folder / "rank%r.sqlite", "--", TRAIN, *TINY, "--steps", "10", *comm)
    assert told.stdout.count("Verdict ") == 1 and "this is one of 4" in told.stdout, told.stdout
    assert len(list(folder.glob("rank?.sqlite"))) == 4, list(folder.iterdir())


with tempfile.TemporaryDirectory(prefix="headway trainer ranks ") as temporary:
    {"recorded": recorded, "late_gathers": late_gathers, "pipeline": pipeline, "simulated": simulated, "mpirun": mpirun}[sys.argv[2]](pathlib.Path(temporary))
