"""Publishes a version on one channel, rolls it out on another one, and waits until the rollout has ended.

    BASE=http://127.0.0.1:8080 TOKEN=... python3 scripts/samples/release.py gateway-x canary stable 1.1.0 URL SHA256

It needs only Python 3.9 or newer, and can be repeated at any point. It exits with 1 if the rollout was halted.
"""
import json
import os
import sys
import time
import urllib.error
import urllib.request


def call(method, path, body=None, **headers):
    """Makes a call, and makes it again if the service is busy."""
    request = urllib.request.Request(os.environ["BASE"] + path, method=method, data=body and json.dumps(body).encode(), headers={
        "Authorization": "Bearer " + os.environ["TOKEN"], "Content-Type": "application/json", **headers})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=35) as answer:
                return answer.headers, json.loads(answer.read() or "null")
        except urllib.error.HTTPError as refusal:
            if refusal.code not in (429, 503):
                sys.exit(refusal.read().decode())
            time.sleep(int(refusal.headers.get("Retry-After", 1)))


edge_type, first, then, version, url, sha256 = sys.argv[1:]
call("PUT", f"/api/ota/release-channels/{edge_type}/{first}", {"currentVersion": version, "artifactUrl": url, "sha256": sha256})
# With the same key and body, the answer is the first one for 24 hours.
started, _ = call("POST", "/api/ota/rollouts", {"edgeType": edge_type, "channel": then, "targetVersion": version},
                  **{"Idempotency-Key": f"{edge_type}/{then} {version}"})
while True:
    _, rollout = call("GET", "/api/ota/rollouts/" + started["Location"].rsplit("/", 1)[1])
    print(f"{version} is {rollout['status']} at {rollout['staged_percent']} %", flush=True)
    if rollout["status"] != "active":
        sys.exit(rollout["status"] != "completed")
    time.sleep(float(os.environ.get("EVERY", 30)))
