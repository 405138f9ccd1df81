/* What the BPF programs' parts need of libbpf's headers where they are compiled for the host, to be tested. */
#pragma once

#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, of) of *name
#define barrier_var(variable)

/* The time in ticks; traces set it. */
static unsigned long long ticks;

static unsigned long long bpf_jiffies64(void) { return ticks; }
static void *bpf_sk_storage_get(void *map, void *sk, void *value, unsigned long long flags) { return 0; }
