"""Checks the files of `wavegate dossier`, without the service and without the command that made them.

    python3 scripts/samples/dossier.py gateway-x-1.1.0.zip

It prints a line for each file, and exits with 1 if one of them is not consistent. It needs only Python 3.11 or newer.
"""
import hashlib
import json
import struct
import sys
import zlib
from datetime import datetime, timedelta

COUNTS = ("hit", "exposed", "told", "runs", "failed", "missing", "optedOut", "overdue")
when = datetime.fromisoformat


def packed(entries):
    """The bytes of a ZIP archive without compression, times and comments."""
    files, directory = b"", b""
    for name, data in entries:
        raw = name.encode()
        utf8 = 0 if raw.isascii() else 0x800
        head = struct.pack("<HHHHLLLHH", utf8, 0, 0, 0, zlib.crc32(data), len(data), len(data), len(raw), 0)
        directory += struct.pack("<LHH", 0x02014B50, 20, 20) + head + struct.pack("<HHHLL", 0, 0, 0, 0, len(files)) + raw
        files += struct.pack("<LH", 0x04034B50, 20) + head + raw + data
    end = struct.pack("<LHHHHLLH", 0x06054B50, 0, 0, len(entries), len(entries), len(directory), len(files), 0)
    return files + directory + end


def unpacked(file):
    """The entries of a file, which must have the digests that its first one lists."""
    entries, at = [], 0
    while file[at:at + 4] == b"PK\x03\x04":
        size, length = struct.unpack_from("<L", file, at + 22)[0], struct.unpack_from("<H", file, at + 26)[0]
        begin = at + 30 + length
        entries.append((file[at + 30:begin].decode(), file[begin:begin + size]))
        at = begin + size
    if not entries or entries[0][0] != "SHA256SUMS":
        raise ValueError("its first entry is not SHA256SUMS")
    listed = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in entries[1:])
    if entries[0][1] != listed.encode() or packed(entries) != file:
        raise ValueError("it is not as it was made")
    return dict(entries[1:])


def lines(entries, name):
    if name not in entries:
        raise ValueError(f"it has no {name}")
    return [json.loads(line) for line in entries[name].splitlines() if line]


def share(organization, boxes):
    """How far the release is among boxes."""
    ran = sorted(b["ran"] for b in boxes if b["ran"])
    parts = {name: ran[max(0, (len(ran) * percent + 99) // 100 - 1)] if ran else None
             for name, percent in (("first", 0), ("half", 50), ("most", 95), ("last", 100))}
    return {"organizationId": organization, "ran": sum(bool(b["ran"] or b["runs"]) for b in boxes),
            **{name: sum(b[name] for b in boxes) for name in COUNTS}, **parts}


def due(release):
    """Until when pauses may keep the release waiting."""
    days = int(release["deadline"].strip("PD")) if "deadline" in release else 30 if release.get("kind") == "security" else 0
    return when(release["publishedAt"]) + timedelta(days=days) if days else None


def summed(d, spells, boxes):
    """Counts the lists again, by organization."""
    known, version, affected, late = {}, d["version"], d.get("affected", []), due(d["release"])

    def of(item):
        return known.setdefault((item.get("organizationId", ""), item["edgeId"]), {"ran": None, **dict.fromkeys(COUNTS, False)})

    for p in spells:
        box = of(p)
        if p["version"] != version:
            box["hit"] |= p["version"] in affected and "ranAt" in p
            continue
        box["told"] |= "toldAt" in p
        box["failed"] |= "code" in p
        if "ranAt" in p:
            box["ran"] = min(box["ran"] or when(p["ranAt"]), when(p["ranAt"]))
    for b in boxes:
        box = of(b)
        box["runs"], box["exposed"] = b.get("running") == version, b.get("running") in affected
        box["hit"] |= box["exposed"]
        box["missing"] = b["carries"] and not box["runs"]
        box["optedOut"] = box["missing"] and "optOut" in b
        box["overdue"] = box["missing"] and not box["optedOut"] and late is not None and when(d["until"]) > late
        if b.get("pending", {}).get("version") == version:
            box["told"], box["failed"] = True, box["failed"] or "code" in b["pending"]
        if box["runs"] and b.get("stay", {}).get("version") == version:
            box["told"] |= "toldAt" in b["stay"]
            box["ran"] = min(box["ran"] or when(b["stay"]["ranAt"]), when(b["stay"]["ranAt"]))
    organizations = {}
    for (organization, _), box in known.items():
        organizations.setdefault(organization, []).append(box)
    return [share("", list(known.values()))] + [share(o, organizations[o]) for o in sorted(organizations)]


def said(s):
    """A share as a file says it."""
    times = {name: when(s[name]) if name in s else None for name in ("first", "half", "most", "last")}
    return {"organizationId": s.get("organizationId", ""), **{n: s[n] for n in ("ran", *COUNTS)}, **times}


def followed(events):
    last = {}
    for e in events:
        key = (e["resource"]["type"], e["resource"]["id"])
        was = last.get(key)
        if was and (when(e["eventTime"]) < when(was["eventTime"]) or e.get("before") != was.get("after")):
            raise ValueError("its events do not follow each other")
        last[key] = e


def check(file):
    entries = unpacked(file)
    d = json.loads(entries["dossier.json"])
    counted, events = summed(d, lines(entries, "spells.jsonl"), lines(entries, "boxes.jsonl")), lines(entries, "events.jsonl")
    if counted != [said(s) for s in [d["all"]] + d["organizations"]]:
        raise ValueError("its counts are not those of its lists")
    published = [{"channel": e["resource"]["id"], "at": when(e["eventTime"]), "userId": e["actor"]["userId"], "issuer": e["actor"]["issuer"]}
                 for e in events if e["eventName"] == "ReleasePublished" and e["after"]["currentVersion"] == d["version"]]
    if published != [{**p, "at": when(p["at"])} for p in d["publications"]] or (when(d["due"]) if "due" in d else None) != due(d["release"]):
        raise ValueError("its publications are not those of its events")
    kept = [x["sha256"] for x in d["release"].get("documents", []) if "sha256" in x]
    if not set(kept) <= {hashlib.sha256(data).hexdigest() for name, data in entries.items() if name.startswith("documents/")}:
        raise ValueError("it lacks a document")
    followed(events)


def fault(file):
    """What is wrong with the bytes of a file; empty: nothing."""
    try:
        check(file)
    except (ValueError, KeyError, TypeError, struct.error) as found:
        return (str(found) or type(found).__name__).replace("\n", " ")
    return ""


if __name__ == "__main__":
    faults = []
    for path in sys.argv[1:]:
        with open(path, "rb") as opened:
            faults.append(fault(opened.read()))
        print(f"{path}: {faults[-1]}" if faults[-1] else f"{path} is consistent")
    sys.exit(any(faults))
