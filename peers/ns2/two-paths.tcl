# One bulk TCP flow by SACK over two paths in ns-2.35, packet by packet in turn
# by weights: S - R1 - R2 - R4 - D and S - R1 - R3 - R4 - D, the network of
# AVG-DEV's section IV-B. Acknowledgements come back by R2.
#
#   ns two-paths.tcl [key=value ...]   prints one line of key=value
#
# ns-2's Classifier/MultiPath takes its slots in turn; ten slots, filled as evenly
# as the share allows, make the weights. Nothing is random.

array set cfg {
    share     50
    delay     0.1
    window    100
    duration  1000
}
# share     percent of the packets by R3, a multiple of 10
# delay     of R1 - R2, seconds, one way; R1 - R3 has 1 Mb/s and 250 ms
# window    the receiver's window, packets

foreach arg $argv {
    if {![regexp {^([a-z]+)=(.*)$} $arg -> key value] || ![info exists cfg($key)]} {
        puts stderr "two-paths.tcl: unknown option '$arg'; known: [lsort [array names cfg]]"
        exit 2
    }
    set cfg($key) $value
}

set ns [new Simulator]
Agent/TCP set tcpTick_ 0.01
foreach name {s r1 r2 r3 r4 d} { set $name [$ns node] }
foreach {a b rate delay} [list \
    $s $r1 10Mb 1ms  $r1 $r2 10Mb $cfg(delay)  $r1 $r3 1Mb 250ms \
    $r2 $r4 10Mb 1ms  $r3 $r4 10Mb 1ms  $r4 $d 10Mb 1ms] {
    $ns duplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b 100
    $ns queue-limit $b $a 100
}

# From `node` on to `to`, `share` percent by `slow` and the rest by `fast`.
proc in_turn {node to share fast slow} {
    global ns
    set classifier [new Classifier/MultiPath]
    for {set slot 1} {$slot <= 10} {incr slot} {
        set by [expr {$slot * $share / 100 > ($slot - 1) * $share / 100 ? $slow : $fast}]
        $classifier installNext [[$ns link $node $by] head]
    }
    [$node entry] install [$to id] $classifier
}
# After the static routes.
$ns at 0.00001 {
    in_turn $r1 $d $cfg(share) $r2 $r3
    in_turn $r4 $s 0 $r2 $r3
}

set tcp [new Agent/TCP/Sack1]
set sink [new Agent/TCPSink/Sack1]
$ns attach-agent $s $tcp
$ns attach-agent $d $sink
$ns connect $tcp $sink
$tcp set window_ $cfg(window)
$tcp set packetSize_ 960
$tcp set windowInit_ 2
$tcp set minrto_ 1
$tcp set singledup_ 1
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.001 "$ftp start"
$ns at $cfg(duration) {
    puts [format "share=%g packets_per_second=%.2f retransmits=%d window_cuts=%d timeouts=%d" \
        $cfg(share) [expr {[$tcp set ack_] / double($cfg(duration))}] \
        [$tcp set nrexmitpack_] [$tcp set ncwndcuts_] [$tcp set nrexmit_]]
    exit 0
}
$ns run
