import com.google.gson.Gson;
import com.google.gson.JsonSyntaxException;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The driver of kwik, in real time: {@code KEYSTORE receive|send ADDRESS PORT}. See ../PROTOCOL.md. */
public final class Driver {
    private static final List<String> CONTROLS = List.of("newreno");
    private static final List<String> SETTINGS =
            List.of("initialRtt", "maxUnidirectionalStreamBufferSize", "maxConnectionBufferSize");
    private static final Gson GSON = new Gson().newBuilder().serializeNulls().create();
    private static final PrintStream ANSWERS = System.out;
    private static boolean ended;

    /** The first line that the bench writes. */
    static final class Request {
        int protocol;
        String control;
        Long octets;
        Map<String, String> settings = Map.of();

        /** A setting, or what holds without it. */
        long number(String name, long otherwise) {
            String text = settings.get(name);
            if (text == null) {
                return otherwise;
            }
            try {
                long number = Long.parseLong(text);
                if (number > 0) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // As a number that is not positive.
            }
            throw fail("settings: " + name + ": " + text + ": expected a whole number from 1 on");
        }
    }

    /** One end of the transfer. */
    interface End {
        /** Starts, calls {@code ready} when the bench may go on, and returns or not. */
        void run(Runnable ready) throws Exception;

        /** What it counted. */
        Map<String, Object> counts();
    }

    private Driver() {}

    /** Runs one end. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 4 || !List.of("receive", "send").contains(arguments[1])) {
            System.err.println("usage: kwik receive|send ADDRESS PORT");
            System.exit(2);
        }
        // Whatever the stack prints is not an answer.
        System.setOut(System.err);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Request request = read(lines.readLine());
        int port = Integer.parseInt(arguments[3]);
        End end = arguments[1].equals("receive")
                ? new Receiver(request, arguments[0], arguments[2], port)
                : new Sender(request, arguments[0], arguments[2], port);
        Thread running = new Thread(() -> {
            try {
                end.run(() -> answer(Map.of("protocol", 1, "stack", "kwik", "version", "kwik " + version(),
                        "control", CONTROLS.get(0))));
            } catch (Exception e) {
                fail(e.toString());
            }
        });
        running.setDaemon(true);
        running.start();
        String line = lines.readLine();
        if (line != null && !line.equals("end")) {
            fail(line + ": expected end");
        }
        finish(end);
    }

    /** The password of the key that was made with the driver. */
    static final char[] PASSWORD = "secret".toCharArray();

    /** The server's key and certificate. */
    static KeyStore keys(String file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream opened = new FileInputStream(file)) {
            store.load(opened, PASSWORD);
        }
        return store;
    }

    private static String version() {
        String jar = tech.kwik.core.QuicConnection.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return jar.replaceAll(".*/kwik-(.*)\\.jar", "$1");
    }

    private static Request read(String line) {
        if (line == null) {
            System.exit(0);
        }
        Request request;
        try {
            request = GSON.fromJson(line, Request.class);
        } catch (JsonSyntaxException e) {
            throw fail("the first line: " + e.getMessage());
        }
        if (request == null || request.protocol != 1) {
            throw fail("protocol: expected 1");
        }
        if (request.control != null && !CONTROLS.contains(request.control)) {
            throw fail("control: " + request.control + ": expected " + String.join(" or ", CONTROLS));
        }
        for (String name : request.settings.keySet()) {
            if (!SETTINGS.contains(name)) {
                throw fail("settings: " + name + ": expected " + String.join(", ", SETTINGS));
            }
        }
        return request;
    }

    /** Writes the last line, and ends. */
    static synchronized void finish(End end) {
        if (!ended) {
            ended = true;
            Map<String, Object> last = new LinkedHashMap<>();
            for (String name : List.of("received", "sent", "lost")) {
                last.put(name, 0);
            }
            last.put("spurious", null);
            last.put("discarded", null);
            last.putAll(end.counts());
            answer(last);
            Runtime.getRuntime().halt(0);
        }
    }

    /** Writes one line with what went wrong, and ends; it only seems to return. */
    static synchronized RuntimeException fail(String what) {
        if (!ended) {
            ended = true;
            answer(Map.of("error", what.lines().findFirst().orElse("")));
            Runtime.getRuntime().halt(1);
        }
        return new IllegalStateException(what);
    }

    private static void answer(Map<String, ?> value) {
        ANSWERS.println(GSON.toJson(value));
        ANSWERS.flush();
    }

    /** The octets at a position: what is sent, over and over. */
    static final byte[] PATTERN = new byte[65521 + (1 << 16)];

    /** The position after which the pattern begins anew. */
    static final int PERIOD = 65521;

    static {
        for (int i = 0; i < PATTERN.length; i++) {
            PATTERN[i] = (byte) (((i % PERIOD) * 2654435761L + 12345) >> 13);
        }
    }
}
