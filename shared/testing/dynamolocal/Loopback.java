import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Starts DynamoDB Local on a free port of the loopback interface. Its own command listens on every
 * interface. This program prints "listening <endpoint>" and ends when its standard input is closed, so it
 * never runs longer than the process that started it.
 */
class Loopback {
	public static void main(String[] arguments) throws Exception {
		DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(arguments);
		var field = DynamoDBProxyServer.class.getDeclaredField("server");
		field.setAccessible(true);
		Server server = (Server) field.get(local);
		ServerConnector connector = null;
		for (Connector each : server.getConnectors()) {
			connector = (ServerConnector) each;
			connector.setHost("127.0.0.1");
			connector.setPort(0);
		}
		local.safeStart();
		System.out.println("listening http://127.0.0.1:" + connector.getLocalPort());
		while (System.in.read() >= 0) {
		}
		local.stop();
		System.exit(0);
	}
}
