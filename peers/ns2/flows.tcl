# Many bulk TCP flows over a dumbbell in ns-2.35, and what the bottleneck made of them.
#
#   ns flows.tcl [key=value ...]       prints one line of key=value
#
#   source i - R1 - R2 - sink i        each flow has its own access links
#
# README.md says what each result means and gives the settings of the points measured.

array set cfg {
    flows       12
    sender      Sack1
    rate        10e6
    delay       0.010
    accessrate  10e6
    accessdelay 0.001
    queue       50
    discipline  DropTail
    thresh      0
    maxthresh   0
    inbytes     1
    qweight     -1
    gentle      1
    wire        1040
    header      40
    window      2000
    initwindow  2
    minrto      1
    tick        0.01
    duration    1100
    warmup      100
    spread      1
    backrate    0
    seed        1
    scheduler   Heap
    headers     few
    perflow     0
    set         {}
}
# flows              how many, all alike
# rate, accessrate   bits per second
# delay, accessdelay one-way seconds
# queue              limit_ of the bottleneck's data direction, packets
# discipline         DropTail, RED
# thresh, maxthresh  RED's thresholds, packets
# inbytes            RED's queue_in_bytes_ and bytes_
# qweight, gentle    RED's q_weight_, gentle_; the rest of RED stays at its defaults
# wire               bytes of a data packet on the wire, the header included
# header             bytes of it that are TCP/IP header (packetSize_ = wire - header)
# window             the receiver's window, packets, and the initial ssthresh
# duration, warmup   seconds; only warmup .. duration is measured
# spread             every flow starts at a time uniform on [0, spread) s
# backrate           bits per second of the links back, unless 0; their delay makes up for it with
#                    acknowledgements of 40 bytes, so that only SACK blocks make a difference
# scheduler, headers as in path.tcl
# perflow            1: a second line, packets delivered by each flow
# set                further Agent/TCP variables, as in set=name:value,name:value

foreach arg $argv {
    if {![regexp {^([a-z]+)=(.*)$} $arg -> key value] || ![info exists cfg($key)]} {
        puts stderr "flows.tcl: unknown option '$arg'; known: [lsort [array names cfg]]"
        exit 2
    }
    set cfg($key) $value
}

if {$cfg(headers) eq "few"} {
    remove-all-packet-headers
    add-packet-header IP TCP Flags
}
set ns [new Simulator]
$ns use-scheduler $cfg(scheduler)
$defaultRNG seed $cfg(seed)
set starts [new RNG]
Agent/TCP set tcpTick_ $cfg(tick)

set big 1000000
set r1 [$ns node]
set r2 [$ns node]
# Class values, because simplex-link computes q_weight_ -1 as it makes the link.
Queue/RED set queue_in_bytes_ $cfg(inbytes)
Queue/RED set bytes_ $cfg(inbytes)
Queue/RED set q_weight_ $cfg(qweight)
Queue/RED set gentle_ $cfg(gentle)
Queue/RED set thresh_ $cfg(thresh)
Queue/RED set maxthresh_ $cfg(maxthresh)
$ns simplex-link $r1 $r2 $cfg(rate) $cfg(delay) $cfg(discipline)
$ns simplex-link $r2 $r1 $cfg(rate) $cfg(delay) DropTail
$ns queue-limit $r1 $r2 $cfg(queue)
$ns queue-limit $r2 $r1 $big
set monitor [$ns monitor-queue $r1 $r2 0]

set sinktype Agent/TCPSink
if {$cfg(sender) eq "Sack1"} { append sinktype /Sack1 }
for {set i 0} {$i < $cfg(flows)} {incr i} {
    set from [$ns node]
    set to [$ns node]
    $ns duplex-link $from $r1 $cfg(accessrate) $cfg(accessdelay) DropTail
    $ns duplex-link $r2 $to $cfg(accessrate) $cfg(accessdelay) DropTail
    foreach {a b} [list $from $r1 $r1 $from $r2 $to $to $r2] {
        $ns queue-limit $a $b $big
    }
    set tcp($i) [new Agent/TCP/$cfg(sender)]
    $tcp($i) set packetSize_ [expr {$cfg(wire) - $cfg(header)}]
    $tcp($i) set tcpip_base_hdr_size_ $cfg(header)
    $tcp($i) set window_ $cfg(window)
    $tcp($i) set windowInit_ $cfg(initwindow)
    $tcp($i) set minrto_ $cfg(minrto)
    foreach pair [split $cfg(set) ,] {
        lassign [split $pair :] name value
        $tcp($i) set $name $value
    }
    set sink($i) [new $sinktype]
    $ns attach-agent $from $tcp($i)
    $ns attach-agent $to $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [expr {[$starts uniform 0 1] * $cfg(spread)}] "$ftp start"
}

# ACKs without SACK blocks take as long as before.
proc sendback {a b} {
    global cfg ns
    if {$cfg(backrate) == 0} return
    set link [[$ns link $a $b] link]
    set before [$link set bandwidth_]
    $link set delay_ [expr {[$link set delay_] + 320.0 / $before - 320.0 / $cfg(backrate)}]
    $link set bandwidth_ $cfg(backrate)
}
sendback $r2 $r1
for {set i 0} {$i < $cfg(flows)} {incr i} {
    sendback [$sink($i) set node_] $r2
    sendback $r1 [$tcp($i) set node_]
}

# The integral of a queue's length so far, with the piece since its last change.
proc area {integrator} {
    $integrator newpoint [[Simulator instance] now] [$integrator set lasty_]
    return [$integrator set sum_]
}
set counters {ndatapack_ nrexmitpack_ nrexmit_}
proc counted {} {
    global cfg tcp sink monitor counters
    set now {}
    for {set i 0} {$i < $cfg(flows)} {incr i} {
        foreach c $counters { dict incr now $c [$tcp($i) set $c] }
        # 32 bits, and the SYN's 40 bytes.
        dict set now bytes$i [expr {[$sink($i) set bytes_] & 0xffffffff}]
    }
    foreach c {parrivals_ pdrops_} { dict set now $c [$monitor set $c] }
    dict set now pkts [area [$monitor get-pkts-integrator]]
    dict set now bytes [area [$monitor get-bytes-integrator]]
    return $now
}
proc begin {} { global before; set before [counted] }
proc finish {} {
    global cfg before wall counters
    set wall [expr {([clock microseconds] - $wall) / 1e6}]
    set after [counted]
    foreach key [dict keys $after] {
        set d($key) [expr {[dict get $after $key] - [dict get $before $key]}]
    }
    set span [expr {double($cfg(duration)) - $cfg(warmup)}]
    set sum 0.0
    set squares 0.0
    set each {}
    for {set i 0} {$i < $cfg(flows)} {incr i} {
        set x [expr {($d(bytes$i) & 0xffffffff) / double($cfg(wire))}]
        set sum [expr {$sum + $x}]
        set squares [expr {$squares + $x * $x}]
        lappend each [format %.0f $x]
    }
    set payload [expr {$cfg(wire) - $cfg(header)}]
    puts [format "seed=%s flows=%d goodput_KBps=%.3f goodput_per_flow_Mbps=%.5f jain=%.5f\
        sent=%d retransmits=%d timeouts=%d arrivals=%d drops=%d drop_rate=%.6f\
        mean_queue_packets=%.3f mean_queue_bytes=%.1f wall=%.2f" \
        $cfg(seed) $cfg(flows) [expr {$sum * $payload / $span / 1000}] \
        [expr {$sum * $payload * 8e-6 / $span / $cfg(flows)}] \
        [expr {$sum * $sum / ($cfg(flows) * $squares)}] \
        $d(ndatapack_) $d(nrexmitpack_) $d(nrexmit_) \
        $d(parrivals_) $d(pdrops_) [expr {double($d(pdrops_)) / $d(parrivals_)}] \
        [expr {$d(pkts) / $span}] [expr {$d(bytes) / $span}] $wall]
    if {$cfg(perflow)} { puts "delivered $each" }
    exit 0
}
$ns at $cfg(warmup) begin
$ns at $cfg(duration) finish
# The routes are computed before the first event.
$ns at 0 { set wall [clock microseconds] }
$ns run
