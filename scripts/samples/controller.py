"""Shows what a machine's controller does with a version: its own steps, with its own values.

    python3 scripts/samples/controller.py URL TOKEN FACTORY MACHINE

It trusts nothing but the bytes that people signed: it compares their hash with that of the poll, and only then follows the pointers.
"""
import hashlib
import json
import sys
from urllib.request import Request, urlopen

url, token, factory, machine = sys.argv[1:]
base = f"/api/factories/{factory}/machines/{machine}/methods"


def get(path):
    return json.load(urlopen(Request(url + path, headers={"Authorization": "Bearer " + token})))


def at(value, pointer):
    for name in pointer.split("/")[1:]:
        value = value[int(name)] if isinstance(value, list) else value[name.replace("~1", "/").replace("~0", "~")]
    return value


for method in get(base)["items"]:
    if "version" not in method:
        continue  # nothing holds here
    got = get(f"{base}/{method['methodId']}/versions/{method['version']}")
    if hashlib.sha256(got["content"].encode()).hexdigest() != method["contentSha256"]:
        sys.exit("these are not the bytes that people signed")
    content, overrides = json.loads(got["content"]), got["for"].get("parameters", [])
    for step in got["for"]["steps"]:
        for i, p in enumerate(at(content, step).get("parameters", [])):
            own = [at(content, o) for o in overrides if o.startswith(f"{step}/parameters/{i}/")]
            value = {**p, **own[0]} if own else p
            print(at(content, step)["id"], p["id"], value.get("text", value.get("points", value.get("target"))))
