#!/bin/sh
# Measures the points of flows.csv with ns-2.35, five seeds each.
#
#   peers/ns2/measure-flows.sh      rewrites flows.csv, prints every run
#
# Takes about five minutes. README.md says what the columns mean.
set -eu
export LC_ALL=C
command -v ns >/dev/null || { echo "measure-flows.sh: ns is missing: install Debian's package ns2" >&2; exit 2; }
cd "$(dirname "$0")"
seeds="1 2 3 4 5"
out=flows.csv
new=$(mktemp)
trap 'rm -f "$new"' EXIT
measures="goodput_KBps goodput_per_flow_Mbps jain retransmits timeouts drop_rate mean_queue_packets mean_queue_bytes"
printf 'scenario,sender,flows,rate_bps,delay_ms,access_bps,access_delay_ms,discipline,queue,thresh,maxthresh,in_bytes,q_weight,gentle,window,wire_bytes,min_rto_s,warmup_s,end_s,spread_s,seeds' > "$new"
for m in $measures; do printf ',%s_mean,%s_sd' $m $m; done >> "$new"
echo >> "$new"

# point NAME KEY=VALUE...
point() {
    name=$1; shift
    flows=150 sender=Reno rate=5e6 delay=0.350 access=10e6 accessdelay=0.010 queue=200
    discipline=RED thresh=20 maxthresh=60 inbytes=1 qweight=-1 gentle=1
    window=20 wire=1040 minrto=1 warm=0 end=1500 spread=2
    case $name in
        wb-t5*) delay=0.030 access=5e6 queue=19 discipline=DropTail ;;
        wb-5*) rate=1e6 delay=0.0832 queue=50 discipline=DropTail ;;
        wb-9*) rate=10e6 delay=0.030 queue=36 thresh=4 maxthresh=12 ;;
        dcr*) flows=12 sender=Sack1 rate=10e6 delay=0.010 accessdelay=0.001 queue=50
              discipline=DropTail window=2000 warm=100 end=1100 spread=1 ;;
    esac
    for a in "$@"; do eval "${a%%=*}=${a#*=}"; done
    [ $discipline = RED ] || { thresh=0 maxthresh=0 inbytes=0 qweight=0 gentle=0; }
    lines=$(for s in $seeds; do
        ns flows.tcl flows=$flows sender=$sender rate=$rate delay=$delay accessrate=$access \
            accessdelay=$accessdelay queue=$queue discipline=$discipline thresh=$thresh \
            maxthresh=$maxthresh inbytes=$inbytes qweight=$qweight gentle=$gentle window=$window \
            wire=$wire minrto=$minrto warmup=$warm duration=$end spread=$spread seed="$s"
    done)
    echo "$lines" | sed "s/^/$name /"
    echo "$lines" | awk -v measures="$measures" -v rate=$rate -v delay=$delay -v access=$access -v ad=$accessdelay \
        -v tail="$discipline,$queue,$thresh,$maxthresh,$inbytes,$qweight,$gentle,$window,$wire,$minrto,$warm,$end,$spread" \
        -v head="$name,$sender,$flows" '
        { for (i = 1; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] }
          n++; k = split(measures, m, " ")
          for (i = 1; i <= k; i++) { x[i, n] = v[m[i]]; s[i] += v[m[i]] } }
        END { printf "%s,%.0f,%g,%.0f,%g,%s,%d", head, rate, delay * 1000, access, ad * 1000, tail, n
              for (i = 1; i <= k; i++) {
                  mean = s[i] / n; q = 0
                  for (j = 1; j <= n; j++) q += (x[i, j] - mean) ^ 2
                  printf ",%.7g,%.3g", mean, (n == 1 ? 0 : sqrt(q / (n - 1))) }
              print "" }' >> "$new"
}

# The two tables of the WB-RTO paper, Reno's row.
point wb-t3
point wb-t5
# RED as the papers before ns-2.26 had it: packets, q_weight 0.002, not gentle.
point wb-t3-packets inbytes=0 qweight=0.002 gentle=0
# SACK flows on the path of the DCR paper.
for q in 50 60; do
    point dcr-12      queue=$q access=10e6
    point dcr-12-fast queue=$q access=100e6
done
# Further points of the same paths.
for n in 50 100 200; do point wb-t3 flows=$n; done
for n in 50 100; do point wb-t3-packets flows=$n inbytes=0 qweight=0.002 gentle=0; done
point wb-t3-mixed inbytes=0
for n in 20 60 100; do point wb-9 flows=$n; done
point wb-9-packets flows=60 inbytes=0 qweight=0.002 gentle=0
point wb-t5 flows=50
point wb-t5 flows=100
point wb-t5-rto minrto=0.2
# Timeouts of up to a minute, a flow's share being little more than a packet a second.
for n in 60 100; do point wb-5 flows=$n; done
point dcr-6-fast flows=6 access=100e6
point dcr-24 flows=24 queue=60
mv "$new" "$out"
chmod 644 "$out"
trap - EXIT
