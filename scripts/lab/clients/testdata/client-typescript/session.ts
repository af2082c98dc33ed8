// Runs the README's first session with types that were generated from the contract.
//
// The arguments are the service's URL and that of a later service, which answers with a problem code and a manifest
// source that this contract does not list. The tokens are in the environment.
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./contract.js";

declare const process: { argv: string[]; env: Record<string, string | undefined> };

// The program compiles only if no operation takes a body of any type.
type Untyped = {
  [ID in keyof operations]: operations[ID] extends { requestBody: { content: { "application/json": infer Body } } }
    ? unknown extends Body ? ID : never
    : never
}[keyof operations];
const everyBodyHasAType: [Untyped] extends [never] ? true : Untyped = true;

const tokenOf = (baseUrl: string, variable: string) =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${process.env[variable]}` } });

function check(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

function expect<T extends { response: Response; error?: unknown }>(answer: T, status: number): T {
  check(answer.response.status === status, [answer.response.url, answer.response.status, answer.error]);
  return answer;
}

const lastOf = (r: Response) => (r.headers.get("Location") ?? "").split("/").pop() ?? "";

async function session(url: string) {
  check(everyBodyHasAType, "bodies");
  const owner = tokenOf(url, "OWNER");
  const stable = { params: { path: { edgeType: "gateway-x", channel: "stable" } } };
  const channel = "/api/ota/release-channels/{edgeType}/{channel}";
  const before = expect(await owner.GET(channel, stable), 200);
  check(before.data?.currentVersion === "1.0.0" && before.response.headers.get("ETag") === '"1"', before.data);
  expect(await owner.PUT(channel, {
    params: { path: { edgeType: "gateway-x", channel: "canary" } },
    body: { currentVersion: "1.1.0", artifactUrl: "https://artifacts.example.com/gateway-x/1.1.0.tar.gz", sha256: "0b".repeat(32) },
  }), 201);
  const started = expect(await owner.POST("/api/ota/rollouts", {
    params: { header: { "Idempotency-Key": "roll-1.1.0" } },
    body: { edgeType: "gateway-x", channel: "stable", targetVersion: "1.1.0" },
  }), 201);
  const rollout = { params: { path: { id: lastOf(started.response) } } };
  const move = async (status: number, body: components["schemas"]["RolloutMove"]) =>
    expect(await owner.PATCH("/api/ota/rollouts/{id}", { ...rollout, body }), status);

  await move(204, { staged_percent: 10 });
  const skipped = await move(409, { staged_percent: 100 });
  check(skipped.error?.code === "INVALID_STATE_TRANSITION", skipped.error);
  for (const [box, version, source] of [["box-0027", "1.1.0", "rollout"], ["box-0001", "1.0.0", "channel"]] as const) {
    expect(await owner.PUT("/api/edges/{edgeId}", {
      params: { path: { edgeId: box } }, body: { edgeType: "gateway-x", channel: "stable", organizationId: "acme" },
    }), 201);
    const itself = tokenOf(url, box.toUpperCase().replace("-", "_"));
    const poll = (tag?: string) => itself.GET("/api/edges/{edgeId}/update/manifest", {
      params: { path: { edgeId: box }, query: { installed: "1.0.0" }, header: tag ? { "If-None-Match": tag } : {} },
    });
    const told = expect(await poll(), 200);
    check(told.data?.version === version && told.data.source === source, told.data);
    expect(await poll(told.response.headers.get("ETag") ?? ""), 304);
  }
  await move(204, { staged_percent: 50 });
  await move(204, { staged_percent: 100, status: "completed" });
  const ended = expect(await owner.GET("/api/ota/rollouts/{id}", rollout), 200).data;
  check(ended?.status === "completed" && ended.staged_percent === 100 && ended.previousVersion === "1.0.0", ended);
  check(expect(await owner.GET(channel, stable), 200).data?.currentVersion === "1.1.0", "the channel");

  const engineer = tokenOf(url, "ENGINEER");
  const productId = "7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11";
  const methods = "/api/factories/{factoryId}/production-methods";
  const created = expect(await engineer.POST(methods, {
    params: { path: { factoryId: "munich-1" } }, body: { productId, name: "Milling" },
  }), 201);
  const read = expect(await engineer.GET("/api/factories/{factoryId}/production-methods/{methodId}", {
    params: { path: { factoryId: "munich-1", methodId: lastOf(created.response) } },
  }), 200).data;
  const list = expect(await engineer.GET(methods, { params: { path: { factoryId: "munich-1" }, query: { productId } } }), 200).data;
  check(read?.name === "Milling" && list?.items.length === 1 && JSON.stringify(list.items[0]) === JSON.stringify(read), [read, list]);
}

async function later(url: string) {
  const poll = expect(await tokenOf(url, "BOX_0027").GET("/api/edges/{edgeId}/update/manifest", {
    params: { path: { edgeId: "box-0027" } },
  }), 200);
  check(poll.data?.source === "from-tomorrow", poll.data);
  const refused = expect(await tokenOf(url, "OWNER").GET("/api/ota/release-channels/{edgeType}/{channel}", {
    params: { path: { edgeType: "gateway-x", channel: "stable" } },
  }), 404);
  check(refused.error?.code === "FROM_TOMORROW", refused.error);
}

await session(process.argv[2]);
await later(process.argv[3]);
console.log("done");
