/* Two hosts in one lwIP: two interfaces, one connection from one to the other. Nothing here runs by itself. */
#include <stdint.h>

/* A packet that an interface has sent, and its octets behind it; the caller frees it. */
struct sent {
    struct sent *next;
    int from_client;
    int length;
};

/* Makes both hosts and opens the connection; gives an lwIP error. */
int ends_start(unsigned int seed, uint16_t mtu);
/* Sets the clock, in milliseconds. */
void ends_clock(uint32_t now);
/* Handles the timers that are due. */
void ends_timers(void);
/* Gives the milliseconds to the next timer, or UINT32_MAX. */
uint32_t ends_sleep(void);
/* Hands over a packet that arrives. */
void ends_arrive(int from_client, const void *data, uint16_t length);
/* Gives the next packet that was sent, or NULL. */
struct sent *ends_sent(void);
/* Writes as much as the client's stack takes; gives how many octets. */
int ends_write(const void *data, int length);
/* Reads what has arrived at the server; gives how many octets. */
int ends_read(void *data, int room);
