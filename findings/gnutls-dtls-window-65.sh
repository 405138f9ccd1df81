#!/bin/sh
# GnuTLS 3.7.9 (Debian 12, libgnutls30 3.7.9-2+deb12u7): DTLS takes a record that is 64 behind the newest.
#
# Guess:     a late record is lost from 64 behind the newest, as with OpenSSL 3.0 and mbed TLS 2.28: RFC 6347,
#            section 4.1.2.6, names a window of 64 records, which includes the newest.
# Behaviour: the window reaches one further: of 65 records whose first comes last, all 65 are read; of 66,
#            65 are read and the late one is discarded without an error code. gnutls_record_get_discarded
#            counts it.
# Seen:      lost from 65 behind, 1 discarded
# A capture shows the window as a cliff: packets up to 64 behind arrive with GnuTLS (openconnect), and up to
# 63 with OpenSSL.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq libgnutls30=3.7.9-2+deb12u7 libgnutls28-dev=3.7.9-2+deb12u7 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
library=$(dirname "$(find "$work/root" -name libgnutls.so)")
cat > window.c <<'C'
/* Two ends in memory; each direction is a queue of datagrams. */
#include <errno.h>
#include <gnutls/dtls.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct queue {
    unsigned char data[400][2048];
    int length[400], first, last;
};
struct end {
    struct queue in, *out;
    gnutls_session_t session;
};

static ssize_t push(gnutls_transport_ptr_t end, const void *data, size_t length)
{
    struct queue *out = ((struct end *)end)->out;

    memcpy(out->data[out->last], data, length);
    out->length[out->last++] = length;
    return length;
}

static ssize_t pull(gnutls_transport_ptr_t end, void *data, size_t room)
{
    struct queue *in = &((struct end *)end)->in;

    if (in->first == in->last) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(data, in->data[in->first], room);
    return in->length[in->first++];
}

static int readable(gnutls_transport_ptr_t end, unsigned int ms)
{
    struct queue *in = &((struct end *)end)->in;

    (void)ms;
    return in->first != in->last;
}

static int key_of(gnutls_session_t session, const char *name, gnutls_datum_t *key)
{
    (void)session, (void)name;
    key->data = gnutls_malloc(16);
    key->size = 16;
    memset(key->data, 7, 16);
    return 0;
}

static void open_end(struct end *end, struct end *other, unsigned int role)
{
    gnutls_datum_t hex = { (unsigned char *)"07070707070707070707070707070707", 32 };

    memset(&end->in, 0, sizeof(end->in));
    end->out = &other->in;
    gnutls_init(&end->session, role | GNUTLS_DATAGRAM | GNUTLS_NONBLOCK);
    gnutls_priority_set_direct(end->session,
        "NONE:+VERS-DTLS1.2:+PSK:+AES-128-GCM:+MAC-ALL:+COMP-NULL:+SIGN-ALL", NULL);
    if (role == GNUTLS_CLIENT) {
        gnutls_psk_client_credentials_t of;

        gnutls_psk_allocate_client_credentials(&of);
        gnutls_psk_set_client_credentials(of, "name", &hex, GNUTLS_PSK_KEY_HEX);
        gnutls_credentials_set(end->session, GNUTLS_CRD_PSK, of);
    } else {
        gnutls_psk_server_credentials_t of;

        gnutls_psk_allocate_server_credentials(&of);
        gnutls_psk_set_server_credentials_function(of, key_of);
        gnutls_credentials_set(end->session, GNUTLS_CRD_PSK, of);
    }
    gnutls_transport_set_ptr(end->session, end);
    gnutls_transport_set_push_function(end->session, push);
    gnutls_transport_set_pull_function(end->session, pull);
    gnutls_transport_set_pull_timeout_function(end->session, readable);
}

/* Sends one record and then `behind` more; the first arrives last. Gives how many were discarded. */
static unsigned int discarded(int behind)
{
    static struct end client, server;
    int first, got = 0, a = -1, b = -1, length;
    unsigned char late[2048];
    unsigned int count;
    char text[8];

    open_end(&client, &server, GNUTLS_CLIENT);
    open_end(&server, &client, GNUTLS_SERVER);
    for (int i = 0; i < 50 && (a || b); i++) {
        a = a ? gnutls_handshake(client.session) : 0;
        b = b ? gnutls_handshake(server.session) : 0;
    }
    if (a || b)
        exit(2);
    first = server.in.first;
    for (int i = 0; i <= behind; i++)
        gnutls_record_send(client.session, "data", 4);
    memcpy(late, server.in.data[first], sizeof(late));
    length = server.in.length[first];
    server.in.first++;
    memcpy(server.in.data[server.in.last], late, sizeof(late));
    server.in.length[server.in.last++] = length;
    while (server.in.first != server.in.last)
        got += gnutls_record_recv(server.session, text, sizeof(text)) == 4;
    count = gnutls_record_get_discarded(server.session);
    gnutls_deinit(client.session);
    gnutls_deinit(server.session);
    return got + count == (unsigned int)behind + 1 ? count : 99;
}

int main(void)
{
    int behind = 1;

    while (behind < 200 && discarded(behind) == 0)
        behind++;
    printf("lost from %d behind, %u discarded\n", behind, discarded(behind));
    return 0;
}
C
cc -O1 -o window window.c -I"$work/root/usr/include" -L"$library" -lgnutls
seen=$(LD_LIBRARY_PATH="$library" ./window)
echo "$seen"
[ "$seen" = "lost from 65 behind, 1 discarded" ]
