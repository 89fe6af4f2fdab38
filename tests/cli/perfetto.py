"""A trace as Perfetto's JSON importer reads it (src/trace_processor/importers/json and importers/common
of google/perfetto): events in the order of their times, those of one nanosecond as they stand in the
file; slices of a track nest or are dropped; an arrow binds to the slice that is open on its track."""
import decimal
import gzip
import json
import pathlib


def nanoseconds(us):
    return int(us * 1000)


class Slice:
    def __init__(self, event, begin, end, depth):
        self.name, self.category, self.track = event["name"], event["cat"], event["tid"]
        self.values = event.get("args", {})
        self.begin, self.end, self.depth = begin, end, depth
        self.exact = event["ts"], event["ts"] + event.get("dur", 0)  # of an opened one: its begin


class Imported:
    def __init__(self, path):
        raw = pathlib.Path(path).read_bytes()
        text = gzip.decompress(raw) if str(path).endswith(".gz") else raw
        file = json.loads(text, parse_float=decimal.Decimal)
        self.about, self.events = file["otherData"], file["traceEvents"]
        self.processes, self.tracks = {}, {}  # number -> name
        self.slices, self.arrows, self.stays, self.faults = [], [], [], []
        self.counters = {}  # (process, "NAME KEY") -> [(us, value)]
        self.stacks, self.open_arrows, self.open_stays = {}, {}, {}
        timed = [e for e in self.events if e["ph"] != "M"]
        for event in self.events:
            if event["ph"] == "M":
                self.metadata(event)
        for event in sorted(timed, key=lambda e: nanoseconds(e["ts"])):
            self.add(event)
        self.faults += [f"slice {s.name} is never closed" for stack in self.stacks.values()
                        for s in stack if s.end is None]
        self.faults += [f"arrow {i} never ends" for i in self.open_arrows]
        self.faults += [f"stay {i} never ends" for i in self.open_stays]

    def metadata(self, event):
        names = {"process_name": self.processes, "thread_name": self.tracks}.get(event["name"])
        if names is None:
            return
        number = event["pid"] if event["name"] == "process_name" else event["tid"]
        if number in names or number == 0:
            self.faults.append(f"number {number} is of two")
        names[number] = event["args"]["name"]

    def add(self, event):
        if event["ph"] in ("X", "B", "E", "s", "f") and event["tid"] not in self.tracks:
            self.faults.append(f"{event['ph']} on a track without a name")
        if event["pid"] not in self.processes:
            self.faults.append("a process without a name")
        getattr(self, "add_" + event["ph"])(event, nanoseconds(event["ts"]))

    def stack_at(self, track, time):
        stack = self.stacks.setdefault(track, [])
        while stack and stack[-1].end is not None and stack[-1].end <= time:
            stack.pop()
        return stack

    def push(self, event, begin, end):
        stack = self.stack_at(event["tid"], begin)
        if stack and end is not None and stack[-1].end is not None and end > stack[-1].end:
            self.faults.append(f"dropped: {event['name']} at {begin} overlaps {stack[-1].name}")
            return
        stack.append(Slice(event, begin, end, len(stack)))
        self.slices.append(stack[-1])

    def add_X(self, event, time):
        self.push(event, time, time + nanoseconds(event["dur"]))

    def add_B(self, event, time):
        self.push(event, time, None)

    def add_E(self, event, time):
        stack = self.stacks.get(event["tid"], [])
        while stack and stack[-1].end is not None:
            stack.pop()
        if not stack:
            self.faults.append(f"nothing is open at {time}")
            return
        ended = stack.pop()
        ended.end, ended.exact = time, (ended.exact[0], event["ts"])

    def bound(self, event):
        stack = self.stacks.get(event["tid"], [])  # as it is: ended ones leave with the next slice
        if not stack:
            self.faults.append(f"arrow {event['id']} has no slice at {event['ts']}")
            return None
        if stack[-1].begin > nanoseconds(event["ts"]):
            self.faults.append(f"arrow {event['id']} is before its slice")
        return stack[-1]

    def add_s(self, event, _):
        if event["id"] in self.open_arrows:
            self.faults.append(f"arrow {event['id']} begins twice")
        self.open_arrows[event["id"]] = self.bound(event)

    def add_f(self, event, _):
        if event["id"] not in self.open_arrows or event["bp"] != "e":
            self.faults.append(f"arrow {event['id']} has no begin")
            return
        self.arrows.append((event["name"], self.open_arrows.pop(event["id"]), self.bound(event)))

    def add_C(self, event, _):
        for key, value in event["args"].items():
            self.counters.setdefault((event["pid"], f"{event['name']} {key}"), []).append(
                (event["ts"], value))

    def add_b(self, event, _):
        key = event["pid"], event["cat"], event["name"], event["id"]
        if key in self.open_stays:
            self.faults.append(f"stay {key} begins twice")
        self.open_stays[key] = event["ts"]

    def add_e(self, event, _):
        key = event["pid"], event["cat"], event["name"], event["id"]
        if key not in self.open_stays:
            self.faults.append(f"stay {key} has no begin")
            return
        self.stays.append((*key, self.open_stays.pop(key), event["ts"]))

    def last(self, name):
        """The sum over processes of a counter's last values."""
        return sum(values[-1][1] for (_, counter), values in self.counters.items() if counter == name)

    def on(self, category):
        return [s for s in self.slices if s.category == category]
