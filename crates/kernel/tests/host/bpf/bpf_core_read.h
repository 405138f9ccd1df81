#pragma once
#define BPF_CORE_READ_BITFIELD(from, field) ((from)->field)
