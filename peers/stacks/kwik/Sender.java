import java.io.OutputStream;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import tech.kwik.core.QuicClientConnection;
import tech.kwik.core.Statistics;
import tech.kwik.core.log.NullLogger;

/** The client: it writes as much as the stack takes. */
final class Sender implements Driver.End {
    private final Driver.Request request;
    private final String keys;
    private final String address;
    private final int port;
    private volatile QuicClientConnection connection;

    Sender(Driver.Request request, String keys, String address, int port) {
        this.request = request;
        this.keys = keys;
        this.address = address;
        this.port = port;
    }

    @Override
    public void run(Runnable ready) throws Exception {
        QuicClientConnection.Builder builder = QuicClientConnection.newBuilder()
                .uri(new URI("race://server:" + port))
                .proxy(address)
                .applicationProtocol("race")
                .customTrustStore(Driver.keys(keys))
                .connectTimeout(Duration.ofSeconds(60))
                .maxIdleTimeout(Duration.ofSeconds(600))
                .logger(new NullLogger());
        if (request.settings.containsKey("initialRtt")) {
            builder.initialRtt((int) request.number("initialRtt", 0));
        }
        connection = builder.build();
        ready.run();
        connection.connect();
        OutputStream stream = connection.createStream(false).getOutputStream();
        long position = 0;
        while (request.octets == null || position < request.octets) {
            int start = (int) (position % Driver.PERIOD);
            int length = 1 << 16;
            if (request.octets != null) {
                length = (int) Math.min(length, request.octets - position);
            }
            stream.write(Driver.PATTERN, start, length);
            position += length;
        }
        stream.close();
    }

    @Override
    public Map<String, Object> counts() {
        if (connection == null) {
            return Map.of();
        }
        Statistics statistics = connection.getStats();
        return Map.of("sent", statistics.datagramsSent(), "lost", statistics.lostPackets());
    }
}
