#!/usr/bin/env python3
"""Jobs of many ranks as users give them: ranks_test.py BIN_FOLDER CASE. Exit status 0: passed."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

BIN = pathlib.Path(sys.argv[1])
HEADWAY = str(BIN / "headway")


def run(*command, expect=0, cwd=None):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=110, cwd=cwd)
    assert result.returncode == expect, f"{command}: exit {result.returncode}, expected {expect}\n{result.stdout}\n{result.stderr}"
    return result


def make_job(folder, ranks=4, late=2):
    run(BIN / "headway_make_job", folder, ranks, 36000, late)
    return folder


def spellings(folder):
    """A folder, a pattern and a list of files are the same job; the late rank and its delay are found."""
    job = make_job(folder / "a job")
    files = sorted(job.glob("*.sqlite"))
    by_folder = run(HEADWAY, "report", job, "--json").stdout
    assert by_folder == run(HEADWAY, "report", f"{job}/rank*.sqlite", "--json").stdout
    assert by_folder == run(HEADWAY, "report", *reversed(files), "--json").stdout
    result = json.loads(by_folder)
    assert result["trace"]["ranks"] == 4 and len(result["trace"]["files"]) == 4
    assert result["critical_rank"] == 2
    late = [r for r in result["ranks"] if r["rank"] == 2][0]
    assert abs(late["caused_wait_ns"] - 1_500_000) < 150_000, late
    assert result["matching"]["unmatched"] == 0
    for device in result["partition"]:
        assert sum(c["ns_per_step"] for c in device["classes"].values()) == device["ns_per_step"]
    straggler = [f for f in result["findings"] if f["rule"] == "straggler"][0]
    # The hosts of this job keep their own pace, so a replay gains nothing; what is exposed is the planted delay.
    assert straggler["sub_cause"] == "compute" and abs(straggler["exposed_ns_per_step"] - 1_500_000) < 150_000, straggler
    tables = json.loads(run(HEADWAY, "stats", job, "ranks", "collectives", "--json").stdout)["tables"]
    assert [len(t["rows"]) for t in tables] == [4, 1]
    run(HEADWAY, "report", job, "-o", folder / "job.html", "-o", folder / "job.md")
    assert "Waits per rank and step" in (folder / "job.html").read_text()
    archive = folder / "job.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members:
        for file in files:
            run(HEADWAY, "export", file, "--format", "chrome", "-o", folder / f"{file.stem}.json")
            members.write(folder / f"{file.stem}.json", f"{file.stem}.json")
    zipped = json.loads(run(HEADWAY, "report", archive, "--json").stdout)
    assert zipped["trace"]["ranks"] == 4 and zipped["critical_rank"] == 2, zipped["trace"]


def wrong_inputs(folder):
    job = make_job(folder / "job", ranks=3, late=1)
    (folder / "empty").mkdir()
    assert "without traces" in run(HEADWAY, "report", folder / "empty", expect=2).stderr
    assert "matches no file" in run(HEADWAY, "report", f"{job}/*.nothing", expect=2).stderr
    assert "both are rank 0" in run(HEADWAY, "report", job / "rank0.sqlite", job / "rank0.sqlite", job / "rank1.sqlite", expect=3).stderr
    (job / "rank2.sqlite").write_text("not a trace")
    error = run(HEADWAY, "report", job, expect=3)
    assert "rank2.sqlite" in error.stderr and error.stderr.count("\n") == 1, error.stderr
    partial = json.loads(run(HEADWAY, "report", job / "rank0.sqlite", job / "rank1.sqlite", "--json").stdout)
    assert any("2 of 3 ranks are here" in d["text"] for d in partial["doubts"])


def mpi(folder):
    """Two processes write the same bytes as one; an error on one of them ends both with one message."""
    mpirun = shutil.which("mpirun")
    if not mpirun:
        print("[skipped] mpirun is not installed")
        return
    launch = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    if b"libmpi" not in subprocess.run(["ldd", HEADWAY], capture_output=True).stdout:
        error = subprocess.run([*launch, HEADWAY, "report", "x"], capture_output=True, text=True, timeout=110)
        assert error.returncode != 0 and "built without MPI" in error.stderr, error
        print("[skipped] this build has no MPI (HEADWAY_MPI=OFF); it says so")
        return
    job = make_job(folder / "job")
    for form in ("text", "json", "html", "markdown"):
        one = run(HEADWAY, "report", job, "--format", form).stdout
        assert one and one == run(*launch, HEADWAY, "report", job, "--format", form).stdout, form
    (job / "rank1.sqlite").write_text("not a trace")
    error = subprocess.run([*launch, HEADWAY, "report", str(job)], capture_output=True, text=True, timeout=110)
    assert error.returncode == 3, error
    assert error.stderr.count("headway: ") == 1 and not error.stdout, error


with tempfile.TemporaryDirectory(prefix="headway ranks ") as temporary:
    {"spellings": spellings, "wrong_inputs": wrong_inputs, "mpi": mpi}[sys.argv[2]](pathlib.Path(temporary))
