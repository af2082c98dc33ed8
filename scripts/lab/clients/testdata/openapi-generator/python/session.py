"""Makes ten calls with a client that openapi-generator made from the contract.

The arguments are the service's URL and that of a later service. The tokens are in the environment.
"""
import os
import sys
from uuid import UUID

import openapi_client as w


def at(url, variable):
    return w.ApiClient(w.Configuration(host=url, access_token=os.environ[variable]))


def session(url):
    owner = at(url, "OWNER")
    channels, rollouts = w.ReleaseChannelsApi(owner), w.RolloutsApi(owner)
    assert channels.get_release_channel("gateway-x", "stable").current_version == "1.0.0"
    channels.publish_release("gateway-x", "canary", w.Publication(
        currentVersion="1.1.0", artifactUrl="https://artifacts.example.com/gateway-x/1.1.0.tar.gz", sha256="0b" * 32))
    started = rollouts.start_rollout_with_http_info(w.RolloutPlan(edgeType="gateway-x", channel="stable", targetVersion="1.1.0"), "roll-1.1.0")
    rollout = UUID(started.headers["Location"].rsplit("/", 1)[1])
    rollouts.update_rollout(rollout, w.RolloutMove(staged_percent=10))
    try:
        rollouts.update_rollout(rollout, w.RolloutMove(staged_percent=100))
        raise AssertionError("a stage was left out")
    except w.ApiException as refused:
        assert (refused.status, refused.data.code) == (409, "INVALID_STATE_TRANSITION"), refused
    w.EdgesApi(owner).put_edge("box-0027", w.EdgeDraft(edgeType="gateway-x", channel="stable", organizationId="acme"))
    poll = w.EdgesApi(at(url, "BOX_0027")).get_manifest("box-0027", installed="1.0.0")
    assert (poll.version, poll.source) == ("1.1.0", "rollout"), poll
    assert rollouts.get_rollout(rollout).staged_percent == 10
    methods, product = w.ProductionMethodsApi(at(url, "ENGINEER")), UUID("7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11")
    methods.create_production_method("munich-1", w.MethodDraft(productId=product, name="Milling"))
    assert [m.name for m in methods.list_production_methods("munich-1", product_id=product).items] == ["Milling"]


def later(url):
    assert w.EdgesApi(at(url, "BOX_0027")).get_manifest("box-0027").source == "from-tomorrow"
    try:
        w.ReleaseChannelsApi(at(url, "OWNER")).get_release_channel("gateway-x", "stable")
        raise AssertionError("it was not refused")
    except w.ApiException as refused:
        assert refused.data.code == "FROM_TOMORROW", refused


session(sys.argv[1])
later(sys.argv[2])
print("done")
