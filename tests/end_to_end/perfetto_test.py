#!/usr/bin/env python3
"""Perfetto's protobuf against the trace that it was made of, read with the classes of PyPI's perfetto package where it is installed,
else by the wire format alone: perfetto_test.py BIN_FOLDER MAKE_TRACE, or perfetto_test.py BIN_FOLDER - FILE... Exit status 0: passed."""
import collections
import csv
import io
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HEADWAY = str(pathlib.Path(sys.argv[1]).resolve() / "headway")


def fields(data):
    """(number, value) of a message; bytes stay bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 1:
            yield tag >> 3, int.from_bytes(data[at:at + 8], "little")
            at += 8
        else:
            assert tag & 7 == 2, tag
            length = varint()
            assert at + length <= len(data)
            yield tag >> 3, data[at:at + length]
            at += length


def read_by_wire(data):
    """Per packet: time, event {type, track, name, flows out, flows in}, or track {id, parent, is a counter}."""
    names, categories = {}, {}
    for number, packet in fields(data):
        assert number == 1
        parts = list(fields(packet))
        time = dict(parts).get(8)
        for key, value in parts:
            if key == 12:
                for kind, entry in fields(value):
                    if kind in (1, 2):
                        entry = dict(fields(entry))
                        (categories if kind == 1 else names)[entry[1]] = entry[2].decode()
        for key, value in parts:
            if key == 11:
                inner = list(fields(value))
                one = dict(inner)
                yield "event", time, {"type": one[9], "track": one[11], "name": names.get(one.get(10)),
                                      "category": categories.get(one.get(3)), "out": [v for k, v in inner if k == 47],
                                      "in": [v for k, v in inner if k == 48]}
            if key == 60:
                one = dict(fields(value))
                yield "track", time, {"id": one[1], "parent": one.get(5), "counter": 8 in one, "thread": 4 in one, "process": 3 in one}


def read_by_package(data):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(data)
    names, categories = {}, {}
    for packet in trace.packet:
        for entry in packet.interned_data.event_categories:
            categories[entry.iid] = entry.name
        for entry in packet.interned_data.event_names:
            names[entry.iid] = entry.name
        if packet.HasField("track_event"):
            event = packet.track_event
            yield "event", packet.timestamp, {"type": event.type, "track": event.track_uuid, "name": names.get(event.name_iid),
                                              "category": categories.get(event.category_iids[0]) if event.category_iids else None, "out": list(event.flow_ids), "in": list(event.terminating_flow_ids)}
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            yield "track", packet.timestamp, {"id": track.uuid, "parent": track.parent_uuid or None, "counter": track.HasField("counter"),
                                              "thread": track.HasField("thread"), "process": track.HasField("process")}


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=250)
    assert result.returncode == 0, result.stderr
    return result.stdout


def count(db, sql):
    try:
        return db.execute(sql).fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def expected(path, folder):
    """Ranges, marks, calls, ops, launched ops and samples of the trace, by SQL over our own file."""
    file = pathlib.Path(folder) / "own.sqlite"
    run(HEADWAY, "import", path, "-o", file, "--force")
    rows = {}
    for name in ("cuda_api_trace", "cuda_gpu_trace"):
        rows[name] = list(csv.DictReader(io.StringIO(run(HEADWAY, "stats", path, name, "--format", "csv"))))
    db = sqlite3.connect(file)
    marks = count(db, "SELECT COUNT(*) FROM NVTX_EVENTS WHERE eventType = 34")
    ranges = count(db, "SELECT COUNT(*) FROM NVTX_EVENTS WHERE eventType IN (59, 60)")
    samples = count(db, "SELECT COUNT(*) FROM HEADWAY_COUNTER")
    launched = sum(row["CorrId"] != "" for row in rows["cuda_gpu_trace"])
    return ranges, marks, len(rows["cuda_api_trace"]), len(rows["cuda_gpu_trace"]), launched, samples


def check(path, folder, reader):
    output = pathlib.Path(folder) / "out.pftrace"
    run(HEADWAY, "export", path, "--format", "perfetto", "-o", output, "--force")
    tracks, open_slices = {}, collections.defaultdict(list)
    begins = ends = instants = counters = 0
    of_category = collections.Counter()
    sources, sinks = {}, {}
    for what, time, one in reader(output.read_bytes()):
        if what == "track":
            assert one["id"] not in tracks and (one["parent"] is None or one["parent"] in tracks), one
            tracks[one["id"]] = one
            continue
        assert one["track"] in tracks, "an event before its track"
        if one["type"] == 1:
            begins += 1
            assert one["name"] is not None
            of_category[one["category"]] += 1
            stack = open_slices[one["track"]]
            assert not stack or stack[-1] <= time, "slices of a track are in order"
            stack.append(time)
        elif one["type"] == 2:
            ends += 1
            assert open_slices[one["track"]].pop() <= time
        elif one["type"] == 3:
            instants += 1
        else:
            assert one["type"] == 4 and tracks[one["track"]]["counter"]
            counters += 1
        for flow in one["out"]:
            assert flow not in sources
            sources[flow] = time
        for flow in one["in"]:
            assert flow not in sinks
            sinks[flow] = time
    assert begins == ends and not any(open_slices.values())
    assert sources.keys() == sinks.keys(), "every flow has both ends"
    ranges, marks, calls, ops, launched, samples = expected(path, folder)
    assert instants == marks, (instants, marks)
    assert counters == samples, (counters, samples)
    assert of_category["call"] == calls, (of_category, calls)
    assert sum(of_category[one] for one in ("kernel", "communication", "copy", "memset")) == ops, (of_category, ops)
    # Overheads of the driver are slices as well.
    assert begins - calls - ops - of_category["overhead"] == ranges, (begins, of_category, ranges)
    assert len(sources) >= launched, (len(sources), launched)
    print(f"{pathlib.Path(path).name}: {begins} slices ({ranges} ranges, {calls} calls, {ops} ops), {instants} marks, {len(sources)} flows "
          f"({launched} launches), {counters} samples on {len(tracks)} tracks agree")


def main():
    readers = [read_by_wire]
    try:
        import perfetto.protos.perfetto.trace.perfetto_trace_pb2  # noqa: F401
        readers.append(read_by_package)
    except ImportError:
        pass
    with tempfile.TemporaryDirectory() as folder:
        files = sys.argv[3:]
        if sys.argv[2] != "-":
            files = [str(pathlib.Path(folder) / "training.sqlite")]
            run(sys.argv[2], files[0])
        for file in files:
            for reader in readers:
                check(file, folder, reader)


main()
