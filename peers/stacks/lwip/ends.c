#include "ends.h"

#include <stdlib.h>
#include <string.h>

#include <lwip/init.h>
#include <lwip/ip.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/tcp.h>
#include <lwip/timeouts.h>

static uint32_t now;
static struct netif client_netif, server_netif;
static struct tcp_pcb *client, *server;
static struct pbuf *arrived;
static struct sent *first, **last = &first;
static uint16_t mtu;

/* The library's clock, and its check for its own thread: those of the program come first. */
u32_t sys_now(void) { return now; }
void sys_check_core_locking(void) {}

void ends_clock(uint32_t to) { now = to; }
void ends_timers(void) { sys_check_timeouts(); }
uint32_t ends_sleep(void) { return sys_timeouts_sleeptime(); }

static err_t output(struct netif *netif, struct pbuf *p, const ip4_addr_t *to)
{
    struct sent *sent = malloc(sizeof(*sent) + p->tot_len);

    (void)to;
    sent->next = NULL;
    sent->from_client = netif == &client_netif;
    sent->length = pbuf_copy_partial(p, sent + 1, p->tot_len, 0);
    *last = sent;
    last = &sent->next;
    return ERR_OK;
}

struct sent *ends_sent(void)
{
    struct sent *sent = first;

    if (sent) {
        first = sent->next;
        if (!first)
            last = &first;
    }
    return sent;
}

void ends_arrive(int from_client, const void *data, uint16_t length)
{
    struct netif *netif = from_client ? &server_netif : &client_netif;
    struct pbuf *p = pbuf_alloc(PBUF_RAW, length, PBUF_RAM);

    pbuf_take(p, data, length);
    if (netif->input(p, netif) != ERR_OK)
        pbuf_free(p);
}

static err_t init(struct netif *netif)
{
    netif->mtu = mtu;
    netif->output = output;
    return ERR_OK;
}

static err_t received(void *unused, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)unused, (void)pcb, (void)err;
    if (p && arrived)
        pbuf_cat(arrived, p);
    else if (p)
        arrived = p;
    return ERR_OK;
}

int ends_read(void *data, int room)
{
    int length = arrived ? pbuf_copy_partial(arrived, data, room > 0xffff ? 0xffff : room, 0) : 0;

    if (length) {
        arrived = pbuf_free_header(arrived, length);
        tcp_recved(server, length);
    }
    return length;
}

int ends_write(const void *data, int length)
{
    int room;

    if (!client || client->state != ESTABLISHED)
        return 0;
    room = tcp_sndbuf(client);
    if (length > room)
        length = room;
    /* The queue has room for so many segments, which may be full before the buffer is. */
    while (length > 0 && tcp_write(client, data, length, TCP_WRITE_FLAG_COPY) != ERR_OK)
        length /= 2;
    tcp_output(client);
    return length;
}

static err_t accepted(void *unused, struct tcp_pcb *pcb, err_t err)
{
    (void)unused, (void)err;
    server = pcb;
    tcp_recv(pcb, received);
    return ERR_OK;
}

static err_t connected(void *unused, struct tcp_pcb *pcb, err_t err)
{
    (void)unused, (void)pcb, (void)err;
    return ERR_OK;
}

static void add(struct netif *netif, ip4_addr_t *address, int network)
{
    ip4_addr_t mask, gateway;

    IP4_ADDR(address, 10, 0, network, 1);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gateway, 10, 0, network, 2);
    netif_add(netif, address, &mask, &gateway, NULL, init, ip_input);
    netif_set_up(netif);
    netif_set_link_up(netif);
}

int ends_start(unsigned int seed, uint16_t largest)
{
    struct tcp_pcb *listener;
    ip4_addr_t near, far;
    ip_addr_t to;
    err_t err;

    mtu = largest;
    srand(seed);
    lwip_init();
    add(&client_netif, &near, 1);
    add(&server_netif, &far, 2);
    ip_addr_copy_from_ip4(to, far);
    listener = tcp_new();
    err = tcp_bind(listener, &to, 5001);
    if (err != ERR_OK)
        return err;
    tcp_bind_netif(listener, &server_netif);
    listener = tcp_listen(listener);
    tcp_accept(listener, accepted);
    client = tcp_new();
    tcp_bind_netif(client, &client_netif);
    return tcp_connect(client, &to, 5001, connected);
}
