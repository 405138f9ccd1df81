/* Two connections of ngtcp2 to which time is an argument. */
#ifndef ENDS_H
#define ENDS_H

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <stddef.h>
#include <stdint.h>

enum side { CLIENT, SERVER };

/* The payload and the bench, which src/shim.rs has. */
struct calls {
    void *context;
    /* Fills `room` with the payload from `offset` on. */
    void (*fill)(void *context, uint64_t offset, uint8_t *room, size_t length);
    /* Takes the next octets that the server reads; 0 if they are those that were sent. */
    int (*check)(void *context, const uint8_t *data, size_t length);
    /* Takes a packet. */
    void (*sent)(void *context, int side, const uint8_t *data, size_t length);
};

struct request {
    int control; /* ngtcp2_cc_algo */
    uint64_t seed;
    uint64_t octets;
    size_t payload; /* largest UDP payload */
    size_t ack_thresh; /* 0: the default */
    struct calls calls;
};

struct counts {
    uint64_t lost;
    uint64_t discarded;
};

struct ends;

/* NULL if there is no memory or no connection; `error` says why. */
struct ends *ends_open(const struct request *request, char *error, size_t room);
/* These give 0, or leave a line in `ends_error`. `context` is that of the calls from now on. */
int ends_deliver(struct ends *ends, void *context, uint64_t now, int from, const uint8_t *data, size_t length,
    int again);
int ends_turn(struct ends *ends, void *context, uint64_t now);
uint64_t ends_due(struct ends *ends);
struct counts ends_counts(const struct ends *ends);
const char *ends_error(const struct ends *ends);

/* TLS: a certificate made for the run, which the client verifies (tls.c). */
struct tls;

struct tls *tls_new(void);
/* A session of an end; NULL if it cannot be. */
gnutls_session_t tls_session(struct tls *tls, enum side side, ngtcp2_crypto_conn_ref *connection);

#endif
