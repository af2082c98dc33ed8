"""Checks the files of `wavegate dossier`, without the service and without the command that made them.

    python3 scripts/samples/dossier.py gateway-x-1.1.0.zip

It prints a line for each file, and exits with 1 if one of them is not consistent. It needs only Python 3.11 or newer.
"""
import hashlib
import json
import struct
import sys
import zlib
from datetime import datetime


class Inconsistent(Exception):
    """What is wrong with a file."""


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
        raise Inconsistent("its first entry is not SHA256SUMS")
    listed = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in entries[1:])
    if entries[0][1] != listed.encode() or packed(entries) != file:
        raise Inconsistent("it is not as it was made")
    return dict(entries[1:])


def lines(entries, name):
    if name not in entries:
        raise Inconsistent(f"it has no {name}")
    return [json.loads(line) for line in entries[name].splitlines() if line]


def when(text):
    return datetime.fromisoformat(text)


def share(organization, boxes):
    """How far the release is among boxes."""
    ran = sorted(b["ran"] for b in boxes if b["ran"])

    def part(percent):
        return ran[max(0, (len(ran) * percent + 99) // 100 - 1)] if ran else None

    counts = {name: sum(b[name] for b in boxes) for name in ("told", "runs", "failed", "missing")}
    return {"organizationId": organization, "ran": sum(bool(b["ran"] or b["runs"]) for b in boxes), **counts,
            "first": part(0), "half": part(50), "most": part(95), "last": part(100)}


def summed(version, spells, boxes):
    """Counts the lists again, by organization."""
    known = {}

    def of(item):
        return known.setdefault((item.get("organizationId", ""), item["edgeId"]),
                                {"told": False, "runs": False, "failed": False, "missing": False, "ran": None})

    def runs_since(box, text):
        box["ran"] = min(box["ran"] or when(text), when(text))

    for p in spells:
        box = of(p)
        box["told"] |= "toldAt" in p
        box["failed"] |= "code" in p
        if "ranAt" in p:
            runs_since(box, p["ranAt"])
    for b in boxes:
        box = of(b)
        box["runs"] = b.get("running") == version
        box["missing"] = b["carries"] and not box["runs"]
        pending = b.get("pending", {})
        if pending.get("version") == version:
            box["told"] = True
            box["failed"] |= "code" in pending
        if box["runs"] and b.get("stay", {}).get("version") == version:
            box["told"] |= "toldAt" in b["stay"]
            runs_since(box, b["stay"]["ranAt"])
    organizations = {}
    for (organization, _), box in known.items():
        organizations.setdefault(organization, []).append(box)
    return [share("", list(known.values()))] + [share(o, organizations[o]) for o in sorted(organizations)]


def said(s):
    """A share as a file says it."""
    times = {name: when(s[name]) if name in s else None for name in ("first", "half", "most", "last")}
    return {"organizationId": s.get("organizationId", ""), **{n: s[n] for n in ("told", "ran", "runs", "failed", "missing")}, **times}


def followed(events):
    last = {}
    for e in events:
        key, was = (e["resource"]["type"], e["resource"]["id"]), None
        was = last.get(key)
        if was and (when(e["eventTime"]) < when(was["eventTime"]) or e.get("before") != was.get("after")):
            raise Inconsistent("its events do not follow each other")
        last[key] = e


def check(file):
    entries = unpacked(file)
    d = json.loads(entries.get("dossier.json") or "null")
    if not d:
        raise Inconsistent("it has no dossier.json")
    counted = summed(d["version"], lines(entries, "spells.jsonl"), lines(entries, "boxes.jsonl"))
    if counted != [said(s) for s in [d["all"]] + d["organizations"]]:
        raise Inconsistent("its counts are not those of its lists")
    followed(lines(entries, "events.jsonl"))


wrong = 0
for path in sys.argv[1:]:
    try:
        with open(path, "rb") as opened:
            check(opened.read())
        print(f"{path} is consistent")
    except (Inconsistent, ValueError, KeyError, TypeError, struct.error) as fault:
        wrong = 1
        print(f"{path}: {str(fault) or type(fault).__name__}".replace("\n", " ").replace("consistent", "right"))
sys.exit(wrong)
