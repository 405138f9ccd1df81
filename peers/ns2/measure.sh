#!/bin/sh
# Measures the points of points.csv with ns-2.35, five seeds each.
#
#   peers/ns2/measure.sh            rewrites points.csv, prints every run
#
# Takes about a minute. README.md says what the columns mean.
set -eu
export LC_ALL=C
command -v ns >/dev/null || { echo "measure.sh: ns is missing: install Debian's package ns2" >&2; exit 2; }
cd "$(dirname "$0")"
seeds="1 2 3 4 5"
out=points.csv
new=$(mktemp)
trap 'rm -f "$new"' EXIT
echo "scenario,sender,delayed,mean_ms,sd_ms,P_ms,rate_bps,queue,window,wire_bytes,loss,limited_transmit,delayed_acks,warmup_s,end_s,seeds,packets_per_second_mean,packets_per_second_sd,retransmits_mean,timeouts_mean" > "$new"

# point NAME KEY=VALUE...
point() {
    name=$1; shift
    rate=3846153.846153846 p=0.050 queue=100 wire=1000 window=50 end=1000 warm=0
    delayed=0 mean=0.025 sd=0.008 loss=0 sender=Sack1 lt=1 da=0
    case $name in dcr*) rate=8e6 queue=50 wire=1040 window=2000 end=1100 warm=100 ;; esac
    for a in "$@"; do eval "${a%%=*}=${a#*=}"; done
    lines=$(for s in $seeds; do
        ns path.tcl rate=$rate delay=$p queue=$queue wire=$wire window=$window \
            duration=$end warmup=$warm delayed=$delayed mean=$mean sd=$sd loss=$loss \
            sender=$sender singledup=$lt delack=$da seed="$s"
    done)
    echo "$lines" | sed "s/^/$name /"
    echo "$lines" | awk -v head="$name,$sender,$delayed" -v mean=$mean -v sd=$sd -v p=$p -v rate=$rate \
        -v tail="$queue,$window,$wire,$loss,$lt,$da,$warm,$end" '
        { for (i = 1; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] }
          n++; x = v["packets_per_second"]; s += x; q += x * x; r += v["retransmits"]; t += v["timeouts"] }
        END { m = s / n; d = n > 1 ? (q - n * m * m) / (n - 1) : 0; if (d < 0) d = 0
              printf "%s,%g,%g,%g,%.0f,%s,%d,%.2f,%.2f,%.1f,%.1f\n", head, mean * 1000, sd * 1000, \
                  p * 1000, rate, tail, n, m, sqrt(d), r / n, t / n }' >> "$new"
}

# The reference's own points.
for d in 0 0.02 0.1 0.3; do point rr delayed=$d; done
point dcr delayed=0
point dcr-q300 delayed=0 queue=300
for d in 0.02 0.1; do point dcr delayed=$d; done
# Further points of the same paths.
for d in 0.01 0.05 0.2; do point rr delayed=$d; done
point rr-p20  delayed=0    p=0.020 rate=9090909.090909091
point rr-p20  delayed=0.05 p=0.020 rate=9090909.090909091
point rr-p100 delayed=0    p=0.100 rate=1960784.313725490
point rr-p100 delayed=0.05 p=0.100 rate=1960784.313725490
for d in 0.01 0.05 0.2 0.3; do point dcr delayed=$d; done
point dcr-n50 delayed=0.05 mean=0.050 sd=0.016
point rr-loss delayed=0    loss=0.005
point rr-loss delayed=0.05 loss=0.005
# Variants of the receiver and the sender.
point rr-nolt delayed=0.3  lt=0
point rr-da   delayed=0.01 da=1
point rr-da   delayed=0.3  da=1
for c in Reno Newreno; do
    for d in 0 0.02 0.1 0.3; do point rr delayed=$d sender=$c; done
    point rr-loss delayed=0 loss=0.005 sender=$c
    for d in 0.01 0.05 0.15 0.25; do point rr delayed=$d sender=$c; done
    point rr-p20  delayed=0.05 p=0.020 rate=9090909.090909091 sender=$c
    point rr-p100 delayed=0.05 p=0.100 rate=1960784.313725490 sender=$c
    point rr-loss delayed=0.05 loss=0.005 sender=$c
    point rr-loss delayed=0.05 loss=0.01 sender=$c
    point rr-m20  delayed=0.02 window=20 sender=$c
    for d in 0 0.02 0.1; do point dcr delayed=$d sender=$c; done
    point dcr-n50 delayed=0.05 mean=0.050 sd=0.016 sender=$c
done
mv "$new" "$out"
chmod 644 "$out"
trap - EXIT
