/* Replaces libbpf's headers where the BPF headers are compiled for the host, for tests. */
#pragma once

#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, of) of *name
#define barrier_var(variable)
#define __ksym
#define __weak
#define SET_BY_LOADER static

/* The time in ticks. Traces set it. */
static unsigned long long ticks;

static unsigned long long bpf_jiffies64(void) { return ticks; }

static unsigned long long bpf_ktime_get_ns(void) { return ticks; }

/* State of the connection, and free memory for it. Traces set them. */
static void *kept, *unused;

static void *bpf_sk_storage_get(void *map, void *sk, void *value, unsigned long long flags)
{
	if (!kept && flags)
		kept = unused;
	return kept;
}

static long bpf_probe_read_kernel(void *to, unsigned length, const void *from)
{
	__builtin_memcpy(to, from, length);
	return 0;
}

static long bpf_loop(unsigned times, void *step, void *context, unsigned long long flags)
{
	long (*f)(unsigned, void *) = step;
	unsigned n = 0;

	while (n < times && !f(n++, context))
		;
	return n;
}

/* TCP_RTO_MAX_MS of the connection. 0: the kernel has no such option. */
static int rto_max_ms;

static long bpf_getsockopt(void *sk, int level, int name, void *value, int length)
{
	__builtin_memcpy(value, &rto_max_ms, length);
	return rto_max_ms ? 0 : -1;
}

static long bpf_setsockopt(void *sk, int level, int name, void *value, int length)
{
	__builtin_memcpy(&rto_max_ms, value, length);
	return 0;
}
