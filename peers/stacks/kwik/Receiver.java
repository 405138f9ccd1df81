import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import tech.kwik.core.QuicConnection;
import tech.kwik.core.QuicStream;
import tech.kwik.core.log.NullLogger;
import tech.kwik.core.server.ApplicationProtocolConnection;
import tech.kwik.core.server.ApplicationProtocolConnectionFactory;
import tech.kwik.core.server.ServerConnectionConfig;
import tech.kwik.core.server.ServerConnector;

/** The server: it reads everything at once, and compares it with what was sent. */
final class Receiver implements Driver.End, ApplicationProtocolConnectionFactory {
    /** Ten times what 100 Mb/s over 300 ms need. */
    private static final long BUFFER = 32 << 20;

    private static final long SLICE = 500_000_000;

    private final Driver.Request request;
    private final String keys;
    private final String address;
    private final int port;
    private final List<Long> slices = new ArrayList<>();
    private long received;
    private long began;

    Receiver(Driver.Request request, String keys, String address, int port) {
        this.request = request;
        this.keys = keys;
        this.address = address;
        this.port = port;
    }

    @Override
    public void run(Runnable ready) throws Exception {
        ServerConnector server = ServerConnector.builder()
                .withSocket(new DatagramSocket(port, InetAddress.getByName(address)))
                .withKeyStore(Driver.keys(keys), "server", Driver.PASSWORD)
                .withLogger(new NullLogger())
                .withConfiguration(ServerConnectionConfig.builder()
                        .maxOpenPeerInitiatedUnidirectionalStreams(1)
                        .maxUnidirectionalStreamBufferSize(request.number("maxUnidirectionalStreamBufferSize", BUFFER))
                        .maxConnectionBufferSize(request.number("maxConnectionBufferSize", BUFFER))
                        .maxIdleTimeoutInSeconds(600)
                        .build())
                .build();
        server.registerApplicationProtocol("race", this);
        server.start();
        ready.run();
    }

    @Override
    public ApplicationProtocolConnection createConnection(String protocol, QuicConnection connection) {
        return new ApplicationProtocolConnection() {
            @Override
            public void acceptPeerInitiatedStream(QuicStream stream) {
                Thread reading = new Thread(() -> read(stream.getInputStream()));
                reading.setDaemon(true);
                reading.start();
            }
        };
    }

    private void read(InputStream stream) {
        byte[] buffer = new byte[1 << 16];
        long position = 0;
        try {
            for (int length = stream.read(buffer); length >= 0; length = stream.read(buffer)) {
                int start = (int) (position % Driver.PERIOD);
                if (!Arrays.equals(buffer, 0, length, Driver.PATTERN, start, start + length)) {
                    throw Driver.fail("octets " + position + " to " + (position + length - 1) + " differ from what was sent");
                }
                position += length;
                count(length);
                if (request.octets != null && position >= request.octets) {
                    Driver.finish(this);
                }
            }
        } catch (IOException e) {
            // The connection has ended: what was read counts.
        }
    }

    private synchronized void count(int length) {
        if (slices.isEmpty()) {
            began = System.nanoTime();
        }
        int slice = (int) ((System.nanoTime() - began) / SLICE);
        while (slices.size() <= slice) {
            slices.add(0L);
        }
        slices.set(slice, slices.get(slice) + length);
        received += length;
    }

    @Override
    public synchronized Map<String, Object> counts() {
        return Map.of("received", received, "slices", new ArrayList<>(slices));
    }
}
