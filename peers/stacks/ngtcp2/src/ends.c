#include "ends.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Octets that may be sent before they are read: 100 Mb/s over 300 ms, twice. */
#define WINDOW (8u << 20)
/* Octets of the payload that are kept until they are acknowledged. The stack does not copy them. */
#define KEPT (4 * (size_t)WINDOW)
#define ID_LENGTH 16

struct end {
    struct ends *ends;
    enum side side;
    ngtcp2_conn *connection;
    gnutls_session_t session;
    ngtcp2_crypto_conn_ref reference;
    struct sockaddr_in address;
    uint64_t dice;
};

struct ends {
    struct request request;
    struct tls *tls;
    struct end end[2];
    struct counts counts;
    uint64_t dropped; /* as duplicates, by the server */
    int64_t stream;
    uint8_t *kept; /* octet n of the payload at n % KEPT */
    uint64_t filled, written, acked, octets;
    char error[256];
};

static int fails(struct ends *ends, const char *what, int code)
{
    if (ends->error[0] == '\0')
        snprintf(ends->error, sizeof(ends->error), "%s: %s", what, ngtcp2_strerror(code));
    return -1;
}

/* --- What the stack asks for --- */

/* SplitMix64, of the seed. */
static void draw(uint8_t *octets, size_t length, const ngtcp2_rand_ctx *context)
{
    uint64_t *dice = context->native_handle;

    for (size_t i = 0; i < length; i++) {
        uint64_t value = *dice += 0x9e3779b97f4a7c15;

        value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
        value = (value ^ value >> 27) * 0x94d049bb133111eb;
        octets[i] = (uint8_t)(value ^ value >> 31);
    }
}

static void roll(struct end *end, uint8_t *octets, size_t length)
{
    const ngtcp2_rand_ctx context = { &end->dice };

    draw(octets, length, &context);
}

static int new_id(ngtcp2_conn *connection, ngtcp2_cid *id, uint8_t *token, size_t length, void *data)
{
    struct end *end = data;

    (void)connection;
    roll(end, id->data, length);
    id->datalen = length;
    roll(end, token, NGTCP2_STATELESS_RESET_TOKENLEN);
    return 0;
}

static int challenge(ngtcp2_conn *connection, uint8_t *octets, void *data)
{
    (void)connection;
    roll(data, octets, NGTCP2_PATH_CHALLENGE_DATALEN);
    return 0;
}

static int stream_data(ngtcp2_conn *connection, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *data,
    size_t length, void *user, void *stream_user)
{
    struct end *end = user;
    struct calls *calls = &end->ends->request.calls;

    (void)flags, (void)offset, (void)stream_user;
    if (calls->check(calls->context, data, length) != 0) {
        snprintf(end->ends->error, sizeof(end->ends->error), "the payload differs from what was sent");
        return NGTCP2_ERR_CALLBACK_FAILURE;
    }
    ngtcp2_conn_extend_max_stream_offset(connection, stream, length);
    ngtcp2_conn_extend_max_offset(connection, length);
    return 0;
}

static int stream_acked(ngtcp2_conn *connection, int64_t stream, uint64_t offset, uint64_t length, void *user,
    void *stream_user)
{
    struct end *end = user;

    (void)connection, (void)stream, (void)stream_user;
    end->ends->acked = offset + length;
    return 0;
}

static int new_key(ngtcp2_conn *connection, uint8_t *rx_secret, uint8_t *tx_secret, ngtcp2_crypto_aead_ctx *rx_aead,
    uint8_t *rx_iv, ngtcp2_crypto_aead_ctx *tx_aead, uint8_t *tx_iv, const uint8_t *rx_old, const uint8_t *tx_old,
    size_t length, void *user)
{
    return ngtcp2_crypto_update_key_cb(
        connection, rx_secret, tx_secret, rx_aead, rx_iv, tx_aead, tx_iv, rx_old, tx_old, length, user);
}

/* The stack has no counts; its log names each packet. */
static void logs(void *user, const char *format, ...)
{
    struct end *end = user;
    char line[512];
    const char *at;
    va_list rest;

    va_start(rest, format);
    vsnprintf(line, sizeof(line), format, rest);
    va_end(rest);
    at = strstr(line, "pkn=");
    if (end->side == CLIENT && at != NULL && strstr(at, " lost type=") != NULL)
        end->ends->counts.lost++;
    if (end->side == SERVER && strstr(line, "discarded because of duplicated packet number") != NULL)
        end->ends->dropped++;
}

static ngtcp2_conn *connection_of(ngtcp2_crypto_conn_ref *reference)
{
    return ((struct end *)reference->user_data)->connection;
}

/* --- Both ends --- */

static ngtcp2_path path_of(struct end *end)
{
    struct end *other = &end->ends->end[end->side == CLIENT ? SERVER : CLIENT];

    return (ngtcp2_path) {
        .local = { (ngtcp2_sockaddr *)&end->address, sizeof(end->address) },
        .remote = { (ngtcp2_sockaddr *)&other->address, sizeof(other->address) },
    };
}

static const ngtcp2_callbacks callbacks = {
    .client_initial = ngtcp2_crypto_client_initial_cb,
    .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
    .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
    .encrypt = ngtcp2_crypto_encrypt_cb,
    .decrypt = ngtcp2_crypto_decrypt_cb,
    .hp_mask = ngtcp2_crypto_hp_mask_cb,
    .recv_stream_data = stream_data,
    .acked_stream_data_offset = stream_acked,
    .recv_retry = ngtcp2_crypto_recv_retry_cb,
    .rand = draw,
    .get_new_connection_id = new_id,
    .update_key = new_key,
    .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
    .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
    .get_path_challenge_data = challenge,
    .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
};

/* A connection: the client's to an ID of its own choice, the server's to that of the first packet. */
static int connects(struct end *end, uint64_t now, const ngtcp2_pkt_hd *first)
{
    struct ends *ends = end->ends;
    const ngtcp2_path path = path_of(end);
    ngtcp2_settings settings;
    ngtcp2_transport_params params;
    ngtcp2_cid own, other;
    int code;

    own.datalen = other.datalen = ID_LENGTH;
    roll(end, own.data, own.datalen);
    roll(end, other.data, other.datalen);
    ngtcp2_settings_default(&settings);
    settings.cc_algo = (ngtcp2_cc_algo)ends->request.control;
    settings.initial_ts = now;
    settings.log_printf = logs;
    settings.max_tx_udp_payload_size = ends->request.payload;
    settings.rand_ctx.native_handle = &end->dice;
    settings.handshake_timeout = UINT64_MAX;
    if (ends->request.ack_thresh != 0)
        settings.ack_thresh = ends->request.ack_thresh;
    ngtcp2_transport_params_default(&params);
    params.initial_max_data = WINDOW;
    params.initial_max_stream_data_uni = WINDOW;
    params.initial_max_streams_uni = 1;
    params.max_idle_timeout = 0;
    if (first == NULL) {
        code = ngtcp2_conn_client_new(&end->connection, &other, &own, &path, NGTCP2_PROTO_VER_V1, &callbacks,
            &settings, &params, NULL, end);
    } else {
        params.original_dcid = first->dcid;
        code = ngtcp2_conn_server_new(&end->connection, &first->scid, &own, &path, first->version, &callbacks,
            &settings, &params, NULL, end);
    }
    if (code != 0)
        return fails(ends, "a new connection", code);
    end->session = tls_session(ends->tls, end->side, &end->reference);
    if (end->session == NULL)
        return fails(ends, "TLS", NGTCP2_ERR_INTERNAL);
    ngtcp2_conn_set_tls_native_handle(end->connection, end->session);
    return 0;
}

struct ends *ends_open(const struct request *request, char *error, size_t room)
{
    struct ends *ends = calloc(1, sizeof(*ends));

    snprintf(error, room, "no memory, or no TLS");
    if (ends == NULL)
        return NULL;
    ends->request = *request;
    ends->octets = request->octets;
    ends->stream = -1;
    ends->kept = malloc(KEPT);
    ends->tls = tls_new();
    if (ends->kept == NULL || ends->tls == NULL)
        return NULL;
    for (int side = CLIENT; side <= SERVER; side++) {
        struct end *end = &ends->end[side];

        end->ends = ends;
        end->side = side;
        end->reference.get_conn = connection_of;
        end->reference.user_data = end;
        end->address.sin_family = AF_INET;
        end->address.sin_addr.s_addr = htonl(0x0a000001 + side);
        end->address.sin_port = htons(side == CLIENT ? 49152 : 443);
        end->dice = 2 * request->seed + side;
    }
    if (connects(&ends->end[CLIENT], 0, NULL) != 0) {
        snprintf(error, room, "%s", ends->error);
        return NULL;
    }
    return ends;
}

int ends_deliver(struct ends *ends, void *context, uint64_t now, int from, const uint8_t *data, size_t length,
    int again)
{
    struct end *end = &ends->end[from == CLIENT ? SERVER : CLIENT];
    const ngtcp2_path path = path_of(end);
    const uint64_t before = ends->dropped;
    int code;

    ends->request.calls.context = context;
    if (end->connection == NULL) {
        ngtcp2_pkt_hd first;

        if (ngtcp2_accept(&first, data, length) != 0)
            return 0;
        if (connects(end, now, &first) != 0)
            return -1;
    }
    code = ngtcp2_conn_read_pkt(end->connection, &path, NULL, data, length, now);
    if (code != 0)
        return fails(ends, from == CLIENT ? "the server reads" : "the client reads", code);
    if (!again)
        ends->counts.discarded += ends->dropped - before;
    return 0;
}

/* The payload that may be written now, in one or two pieces. */
static size_t pieces(struct ends *ends, ngtcp2_vec piece[2])
{
    uint64_t until = ends->acked + KEPT;
    size_t at, length;

    if (ends->octets < until)
        until = ends->octets;
    if (ends->filled < until && ends->filled < ends->written + WINDOW / 8) {
        /* Ahead by a part of the window, which one turn does not use up. */
        uint64_t ahead = ends->written + WINDOW / 4;

        if (until < ahead)
            ahead = until;
        while (ends->filled < ahead) {
            at = ends->filled % KEPT;
            length = ahead - ends->filled < KEPT - at ? ahead - ends->filled : KEPT - at;
            ends->request.calls.fill(ends->request.calls.context, ends->filled, ends->kept + at, length);
            ends->filled += length;
        }
    }
    if (ends->filled == ends->written)
        return 0;
    at = ends->written % KEPT;
    length = ends->filled - ends->written;
    if (length <= KEPT - at) {
        piece[0] = (ngtcp2_vec) { ends->kept + at, length };
        return 1;
    }
    piece[0] = (ngtcp2_vec) { ends->kept + at, KEPT - at };
    piece[1] = (ngtcp2_vec) { ends->kept, length - (KEPT - at) };
    return 2;
}

/* Writes one packet; gives its length, 0 if there is none, or less. */
static ngtcp2_ssize writes(struct end *end, uint64_t now, uint8_t *room, size_t length)
{
    struct ends *ends = end->ends;
    ngtcp2_vec piece[2];
    ngtcp2_ssize taken = -1, written;
    int64_t stream = -1;
    size_t count = 0;

    if (end->side == CLIENT) {
        if (ends->stream < 0)
            ngtcp2_conn_open_uni_stream(end->connection, &ends->stream, NULL);
        if (ends->stream >= 0 && (count = pieces(ends, piece)) > 0)
            stream = ends->stream;
    }
    written = ngtcp2_conn_writev_stream(end->connection, NULL, NULL, room, length, &taken,
        NGTCP2_WRITE_STREAM_FLAG_NONE, stream, stream < 0 ? NULL : piece, count, now);
    if (written == NGTCP2_ERR_STREAM_DATA_BLOCKED)
        written = ngtcp2_conn_writev_stream(
            end->connection, NULL, NULL, room, length, NULL, NGTCP2_WRITE_STREAM_FLAG_NONE, -1, NULL, 0, now);
    else if (taken > 0)
        ends->written += taken;
    return written;
}

int ends_turn(struct ends *ends, void *context, uint64_t now)
{
    uint8_t room[65536];

    ends->request.calls.context = context;
    for (int side = SERVER; side >= CLIENT; side--) {
        struct end *end = &ends->end[side];
        size_t burst;
        int code;

        if (end->connection == NULL)
            continue;
        if (ngtcp2_conn_get_expiry(end->connection) <= now
            && (code = ngtcp2_conn_handle_expiry(end->connection, now)) != 0)
            return fails(ends, "a timer", code);
        do {
            const size_t quantum = ngtcp2_conn_get_send_quantum(end->connection);

            for (burst = 0; burst < quantum;) {
                ngtcp2_ssize written = writes(end, now, room, sizeof(room));

                if (written < 0)
                    return fails(ends, "a write", (int)written);
                if (written == 0)
                    break;
                ends->request.calls.sent(context, side, room, written);
                burst += written;
            }
            ngtcp2_conn_update_pkt_tx_time(end->connection, now);
        } while (burst > 0);
    }
    return 0;
}

uint64_t ends_due(struct ends *ends)
{
    uint64_t due = UINT64_MAX;

    for (int side = CLIENT; side <= SERVER; side++)
        if (ends->end[side].connection != NULL) {
            const uint64_t at = ngtcp2_conn_get_expiry(ends->end[side].connection);

            due = at < due ? at : due;
        }
    return due;
}

struct counts ends_counts(const struct ends *ends)
{
    return ends->counts;
}

const char *ends_error(const struct ends *ends)
{
    return ends->error;
}
