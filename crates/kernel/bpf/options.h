/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds the timestamps option among the options of a SYN. */
#pragma once
#include "linux.h"

enum {
	OPTION_END = 0,
	OPTION_NOP = 1,
	OPTION_TIMESTAMPS = 8,
	OPTION_AUTHENTICATION = 29, /* TCP-AO, RFC 5925 */
	TIMESTAMPS_LENGTH = 10, /* RFC 7323, section 3.2 */
	OPTIONS_MAX = 40,
};

/* State of a search through the options. */
struct search {
	__u8 octet[64];
	__u32 length, at;
	__u32 found; /* offset of timestamps plus 1. 0: none */
	bool authenticated;
};

/* Examines one option. The verifier would follow every path through an inline loop. */
static long next_option(__u32 index, struct search *s)
{
	__u32 at = s->at, kind, length;

	if (at + 2 > s->length || at > OPTIONS_MAX)
		return 1;
	/* Linux 6.1 loses a bound that was checked earlier. */
	at &= 63;
	barrier_var(at);
	if (at > OPTIONS_MAX)
		return 1;
	kind = s->octet[at];
	length = s->octet[at + 1];
	if (kind == OPTION_END)
		return 1;
	if (kind == OPTION_NOP) {
		s->at = at + 1;
		return 0;
	}
	if (kind == OPTION_TIMESTAMPS && length == TIMESTAMPS_LENGTH && at + length <= s->length)
		s->found = at + 1;
	/* Its authentication code covers the other options, so they must stay. */
	if (kind == OPTION_AUTHENTICATION) {
		s->authenticated = true;
		return 1;
	}
	s->at = at + length;
	return length < 2;
}
