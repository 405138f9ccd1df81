#pragma once
#define BPF_CORE_READ_BITFIELD(from, field) ((from)->field)
#define BPF_CORE_READ_OF(_1, _2, _3, which, ...) which
#define BPF_CORE_READ_1(from, a) ((from)->a)
#define BPF_CORE_READ_2(from, a, b) ((from)->a->b)
#define BPF_CORE_READ(...) BPF_CORE_READ_OF(__VA_ARGS__, BPF_CORE_READ_2, BPF_CORE_READ_1)(__VA_ARGS__)
#define bpf_core_field_exists(field) 1
#define bpf_core_field_offset(type, field) __builtin_offsetof(type, field)
#define BPF_CORE_WRITE_BITFIELD(to, field, value) ((to)->field = (value))
#define bpf_core_type_size(type) sizeof(type)
