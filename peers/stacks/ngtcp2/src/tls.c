/* TLS: one Ed25519 key and a certificate for it, which the client trusts. Both are of the same length in
 * every run; their octets come from the system. */
#include "ends.h"

#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <stdlib.h>
#include <string.h>

#define HOST "stack.test"
#define PROTOCOL "stack"
#define PRIORITY                                                                                                   \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:+GROUP-X25519:%DISABLE_TLS13_COMPAT_MODE"

struct tls {
    gnutls_certificate_credentials_t credentials[2];
};

struct tls *tls_new(void)
{
    struct tls *tls = calloc(1, sizeof(*tls));
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    /* 2020-01-01, and the last second that GeneralizedTime of four digits has. */
    const time_t from = 1577836800, until = 253402300799;

    if (tls == NULL || gnutls_x509_privkey_init(&key) != 0 || gnutls_x509_crt_init(&certificate) != 0)
        return NULL;
    if (gnutls_x509_privkey_generate(key, GNUTLS_PK_EDDSA_ED25519, 256, 0) != 0
        || gnutls_x509_crt_set_version(certificate, 3) != 0
        || gnutls_x509_crt_set_serial(certificate, "\1", 1) != 0
        || gnutls_x509_crt_set_activation_time(certificate, from) != 0
        || gnutls_x509_crt_set_expiration_time(certificate, until) != 0
        || gnutls_x509_crt_set_dn(certificate, "CN=" HOST, NULL) != 0
        || gnutls_x509_crt_set_key(certificate, key) != 0
        || gnutls_x509_crt_set_basic_constraints(certificate, 1, -1) != 0
        || gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, HOST, strlen(HOST),
               GNUTLS_FSAN_SET) != 0
        || gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA512, 0) != 0)
        return NULL;
    for (int side = CLIENT; side <= SERVER; side++)
        if (gnutls_certificate_allocate_credentials(&tls->credentials[side]) != 0)
            return NULL;
    if (gnutls_certificate_set_x509_trust(tls->credentials[CLIENT], &certificate, 1) != 1
        || gnutls_certificate_set_x509_key(tls->credentials[SERVER], &certificate, 1, key) < 0)
        return NULL;
    return tls;
}

gnutls_session_t tls_session(struct tls *tls, enum side side, ngtcp2_crypto_conn_ref *connection)
{
    gnutls_session_t session;
    unsigned char protocol[] = PROTOCOL;
    const gnutls_datum_t alpn = { protocol, strlen(PROTOCOL) };
    const unsigned int flags = side == CLIENT ? GNUTLS_CLIENT : GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET;

    if (gnutls_init(&session, flags | GNUTLS_ENABLE_EARLY_DATA | GNUTLS_NO_END_OF_EARLY_DATA) != 0
        || gnutls_priority_set_direct(session, PRIORITY, NULL) != 0
        || gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->credentials[side]) != 0
        || gnutls_alpn_set_protocols(session, &alpn, 1, GNUTLS_ALPN_MANDATORY) != 0)
        return NULL;
    gnutls_session_set_ptr(session, connection);
    if (side == SERVER)
        return ngtcp2_crypto_gnutls_configure_server_session(session) == 0 ? session : NULL;
    if (ngtcp2_crypto_gnutls_configure_client_session(session) != 0
        || gnutls_server_name_set(session, GNUTLS_NAME_DNS, HOST, strlen(HOST)) != 0)
        return NULL;
    gnutls_session_set_verify_cert(session, HOST, 0);
    return session;
}
