import java.util.Objects;
import java.util.UUID;

import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EdgesApi;
import org.openapitools.client.api.ProductionMethodsApi;
import org.openapitools.client.api.ReleaseChannelsApi;
import org.openapitools.client.api.RolloutsApi;
import org.openapitools.client.model.EdgeDraft;
import org.openapitools.client.model.MethodDraft;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.Publication;
import org.openapitools.client.model.RolloutMove;
import org.openapitools.client.model.RolloutPlan;

/**
 * Makes ten calls with a client that openapi-generator made from the contract. The arguments are the service's URL and that
 * of a later service. The tokens are in the environment.
 */
public class Session {
	interface Call {
		void make() throws ApiException;
	}

	static ApiClient at(String url, String variable) {
		ApiClient client = new ApiClient().setBasePath(url);
		client.setBearerToken(System.getenv(variable));
		return client;
	}

	static void expect(Object got, Object want) {
		if (!Objects.equals(got, want)) {
			throw new AssertionError(got + ", want " + want);
		}
	}

	/** Returns the code of a call that fails. */
	static String refused(Call call) throws Exception {
		try {
			call.make();
			return null;
		} catch (ApiException e) {
			return Problem.fromJson(e.getResponseBody()).getCode();
		}
	}

	static String last(java.util.List<String> location) {
		return location.get(0).substring(location.get(0).lastIndexOf('/') + 1);
	}

	static void session(String url) throws Exception {
		ApiClient owner = at(url, "OWNER");
		ReleaseChannelsApi channels = new ReleaseChannelsApi(owner);
		RolloutsApi rollouts = new RolloutsApi(owner);
		expect(channels.getReleaseChannel("gateway-x", "stable", null).getCurrentVersion(), "1.0.0");
		channels.publishRelease("gateway-x", "canary", new Publication().currentVersion("1.1.0")
			.artifactUrl("https://artifacts.example.com/gateway-x/1.1.0.tar.gz").sha256("0b".repeat(32)), null, null);
		UUID rollout = UUID.fromString(last(rollouts.startRolloutWithHttpInfo(
			new RolloutPlan().edgeType("gateway-x").channel("stable").targetVersion("1.1.0"), "roll-1.1.0").getHeaders().get("location")));
		rollouts.updateRollout(rollout, new RolloutMove().stagedPercent(RolloutMove.StagedPercentEnum.NUMBER_10), null, null);
		expect(refused(() -> rollouts.updateRollout(rollout, new RolloutMove().stagedPercent(RolloutMove.StagedPercentEnum.NUMBER_100), null, null)),
			"INVALID_STATE_TRANSITION");
		new EdgesApi(owner).putEdge("box-0027", new EdgeDraft().edgeType("gateway-x").channel("stable").organizationId("acme"), null, null);
		expect(new EdgesApi(at(url, "BOX_0027")).getManifest("box-0027", "1.0.0", null, null, null).getSource(), "rollout");
		expect(rollouts.getRollout(rollout, null).getStagedPercent(), 10);
		ProductionMethodsApi methods = new ProductionMethodsApi(at(url, "ENGINEER"));
		UUID product = UUID.fromString("7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11");
		methods.createProductionMethod("munich-1", new MethodDraft().productId(product).name("Milling"), null);
		expect(methods.listProductionMethods("munich-1", product, null, null, null, null).getItems().get(0).getName(), "Milling");
	}

	static void later(String url) throws Exception {
		expect(new EdgesApi(at(url, "BOX_0027")).getManifest("box-0027", null, null, null, null).getSource(), "from-tomorrow");
		expect(refused(() -> new ReleaseChannelsApi(at(url, "OWNER")).getReleaseChannel("gateway-x", "stable", null)), "FROM_TOMORROW");
	}

	public static void main(String[] urls) throws Exception {
		session(urls[0]);
		later(urls[1]);
		System.out.println("done");
		System.exit(0); // the client's threads would run on
	}
}
