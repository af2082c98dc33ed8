"""Runs the README's first session with a client that was generated from the contract.

The arguments are the service's URL and that of a later service, which answers with a problem code and a
manifest source that this contract does not list. The tokens are in the environment.
"""
import os
import sys
from uuid import UUID

from wavegate_client import AuthenticatedClient
from wavegate_client.api.edges import get_manifest, put_edge
from wavegate_client.api.production_methods import create_production_method, get_production_method, list_production_methods
from wavegate_client.api.release_channels import get_release_channel, publish_release
from wavegate_client.api.rollouts import get_rollout, start_rollout, update_rollout
from wavegate_client.models import EdgeDraft, MethodDraft, Publication, RolloutMove, RolloutMoveStagedPercent, RolloutMoveStatus, RolloutPlan


def token_of(url, variable):
    return AuthenticatedClient(base_url=url, token=os.environ[variable], raise_on_unexpected_status=True)


def expect(answer, status):
    assert answer.status_code == status, (answer.status_code, answer.content)
    return answer


def session(url):
    owner = token_of(url, "OWNER")
    before = expect(get_release_channel.sync_detailed("gateway-x", "stable", client=owner), 200)
    assert before.parsed.current_version == "1.0.0" and before.headers["ETag"] == '"1"', before
    expect(publish_release.sync_detailed("gateway-x", "canary", client=owner, body=Publication(
        current_version="1.1.0", artifact_url="https://artifacts.example.com/gateway-x/1.1.0.tar.gz", sha256="0b" * 32)), 201)
    started = expect(start_rollout.sync_detailed(client=owner, idempotency_key="roll-1.1.0", body=RolloutPlan(
        edge_type="gateway-x", channel="stable", target_version="1.1.0")), 201)
    rollout = UUID(started.headers["Location"].rsplit("/", 1)[1])

    def move(answered, percent, **more):
        change = RolloutMove(staged_percent=RolloutMoveStagedPercent(percent), **more)
        return expect(update_rollout.sync_detailed(rollout, client=owner, body=change), answered)

    move(204, 10)
    assert move(409, 100).parsed.code == "INVALID_STATE_TRANSITION"
    for box, version, source in (("box-0027", "1.1.0", "rollout"), ("box-0001", "1.0.0", "channel")):
        expect(put_edge.sync_detailed(box, client=owner, body=EdgeDraft(
            edge_type="gateway-x", channel="stable", organization_id="acme")), 201)
        itself = token_of(url, box.upper().replace("-", "_"))
        poll = expect(get_manifest.sync_detailed(box, client=itself, installed="1.0.0"), 200)
        assert (poll.parsed.version, poll.parsed.source) == (version, source), poll.parsed
        expect(get_manifest.sync_detailed(box, client=itself, installed="1.0.0", if_none_match=poll.headers["ETag"]), 304)
    move(204, 50)
    move(204, 100, status=RolloutMoveStatus.COMPLETED)
    ended = expect(get_rollout.sync_detailed(rollout, client=owner), 200).parsed
    assert (ended.status, ended.staged_percent, ended.previous_version) == ("completed", 100, "1.0.0"), ended
    assert expect(get_release_channel.sync_detailed("gateway-x", "stable", client=owner), 200).parsed.current_version == "1.1.0"

    engineer, product = token_of(url, "ENGINEER"), UUID("7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11")
    created = expect(create_production_method.sync_detailed("munich-1", client=engineer, body=MethodDraft(
        product_id=product, name="Milling")), 201)
    method = UUID(created.headers["Location"].rsplit("/", 1)[1])
    read = expect(get_production_method.sync_detailed("munich-1", method, client=engineer), 200).parsed
    listed = expect(list_production_methods.sync_detailed("munich-1", client=engineer, product_id=product), 200).parsed
    assert read.name == "Milling" and listed.items == [read], (read, listed)


def later(url):
    poll = expect(get_manifest.sync_detailed("box-0027", client=token_of(url, "BOX_0027")), 200)
    assert poll.parsed.source == "from-tomorrow", poll.parsed
    refused = expect(get_release_channel.sync_detailed("gateway-x", "stable", client=token_of(url, "OWNER")), 404)
    assert refused.parsed.code == "FROM_TOMORROW", refused.parsed


session(sys.argv[1])
later(sys.argv[2])
print("done")
