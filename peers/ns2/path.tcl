# One bulk TCP flow over S1 - R1 - R2 - S2 in ns-2.35, with a fraction of the
# data packets delayed after the bottleneck while the ones behind pass.
#
#   ns path.tcl [key=value ...]        prints one line of key=value
#
# The defaults are the path `rr` of the RR-TCP evaluation (50 packets per 104 ms);
# README.md gives the settings of the other points.
#
# Every delayed packet gets a draw of its own, at the full speed of ns-2's C++
# code. Three stock objects do it, joined behind the bottleneck's DelayLink:
#
#   DelayLink -> ErrorModel(rate_ = fraction) -> R2
#                     | drop-target
#                     v
#                DelayModel(ranvar) ---------> R2
#
# The ErrorModel only selects; what it "drops" goes to a DelayModel
# (queue/delaymodel.cc), which hands each packet on after one value of its random
# variable. The alternatives are worse: ErrorModel's own delay_pkt_ has one fixed
# delay_; fifty parallel ErrorModels at quantile midpoints only approximate the
# law and cost up to fifty draws a packet; re-setting delay_ from OTcl costs an
# OTcl call a packet.
#
# RandomVariable/Normal cannot be used as it is: a negative draw makes the
# scheduler abort ("going backwards in time"), so the normal law is clamped at
# zero in a RandomVariable/Empirical, an inverse-CDF table with linear
# interpolation in steps of sd/200 from the mean - 8 sd (or zero, which carries
# the whole mass below it) to the mean + 8 sd. It interpolates and searches
# (12 comparisons) in C++. It is loaded from a file, for which there is no other
# way in; the file is temporary and deleted at once.

array set cfg {
    rate        3846153.846153846
    delay       0.050
    accessrate  10e6
    accessdelay 0.001
    queue       100
    wire        1000
    header      40
    window      50
    duration    1000
    warmup      0
    start       0
    delayed     0
    mean        0.025
    sd          0.008
    loss        0
    seed        1
    sender      Sack1
    initwindow  2
    minrto      1
    singledup   1
    delack      0
    tick        0.01
    scheduler   Splay
    headers     few
    set         {}
}
# rate, accessrate   bits per second
# delay, accessdelay one-way seconds
# queue              bottleneck drop-tail, packets, the one in service included
# wire               bytes of a data packet on the wire, the header included
# header             bytes of it that are TCP/IP header (packetSize_ = wire - header)
# window             the receiver's window, packets
# duration, warmup   seconds; only warmup .. duration is measured
# delayed, mean, sd  fraction, and the extra delay N(mean, sd) in seconds, clamped at 0
# loss               probability that a packet is lost, after the bottleneck
# sender             Sack1, Reno, Newreno
# singledup          limited transmit
# tick               granularity of ns-2's RTT samples, seconds
# scheduler          Splay is the fastest here; ns-2's own default is Calendar
# headers            few: only the packet headers this script needs (faster); all
# set                further Agent/TCP variables, as in set=name:value,name:value

foreach arg $argv {
    if {![regexp {^([a-z]+)=(.*)$} $arg -> key value] || ![info exists cfg($key)]} {
        puts stderr "path.tcl: unknown option '$arg'; known: [lsort [array names cfg]]"
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
# The seed first: streams made afterwards follow from it and do not overlap.
$defaultRNG seed $cfg(seed)

Agent/TCP set tcpTick_ $cfg(tick)
# ns-2 has no default for it, and would warn.
DelayModel set debug_ false
set s1 [$ns node]
set r1 [$ns node]
set r2 [$ns node]
set s2 [$ns node]
set big 1000000
$ns duplex-link $s1 $r1 $cfg(accessrate) $cfg(accessdelay) DropTail
$ns duplex-link $r1 $r2 $cfg(rate) $cfg(delay) DropTail
$ns duplex-link $r2 $s2 $cfg(accessrate) $cfg(accessdelay) DropTail
# Only the bottleneck's data direction is limited: nothing else may drop.
foreach {a b} [list $s1 $r1 $r1 $s1 $r2 $r1 $r2 $s2 $s2 $r2] {
    $ns queue-limit $a $b $big
}
$ns queue-limit $r1 $r2 $cfg(queue)

proc stream {} { return [new RNG] }

proc normal_cdf_table {mean sd} {
    set pi 3.14159265358979323846
    set step [expr {$sd / 200.0}]
    set low [expr {$mean - 8.0 * $sd}]
    set text ""
    set sum 0.0
    set previous 0.0
    for {set i 0} {$i <= 3200} {incr i} {
        # Simpson's rule over each step; the tail below -8 sd is 6e-16.
        set z [expr {-8.0 + $i / 200.0}]
        set density [expr {exp(-0.5 * $z * $z) / sqrt(2.0 * $pi)}]
        if {$i > 0} {
            set m [expr {$z - 0.0025}]
            set middle [expr {exp(-0.5 * $m * $m) / sqrt(2.0 * $pi)}]
            set sum [expr {$sum + ($previous + 4.0 * $middle + $density) / 1200.0}]
        }
        set previous $density
        set x [expr {$low + $i * $step}]
        if {$x > 0} {
            # The first line above zero is preceded by the mass at zero.
            if {$text eq "" && $i > 0} {
                append text [format "0 0 %.17g\n" $below]
            }
            append text [format "%.17g 0 %.17g\n" $x [expr {$i == 3200 ? 1.0 : $sum}]]
        } else {
            set below [expr {$x == 0 ? $sum : $sum + $density * (-$x / $sd)}]
        }
    }
    return $text
}

proc clamped_normal {mean sd} {
    if {$sd == 0} {
        set rv [new RandomVariable/Constant]
        $rv set val_ $mean
        return $rv
    }
    set rv [new RandomVariable/Empirical]
    $rv set interpolation_ 1
    $rv use-rng [stream]
    set channel [file tempfile name]
    puts -nonewline $channel [normal_cdf_table $mean $sd]
    close $channel
    $rv loadCDF $name
    file delete $name
    return $rv
}

proc selector {fraction} {
    set rv [new RandomVariable/Uniform]
    $rv use-rng [stream]
    set em [new ErrorModel]
    $em unit pkt
    $em ranvar $rv
    $em set rate_ $fraction
    return $em
}

# insert-linkloss puts the model behind the link, so after the queue, the
# transmission and the propagation. Losses come before the delays.
set link [$ns link $r1 $r2]
if {$cfg(delayed) > 0} {
    set em [selector $cfg(delayed)]
    $link insert-linkloss $em
    set late [new DelayModel]
    $late ranvar [clamped_normal $cfg(mean) $cfg(sd)]
    $late target [$em target]
    $em drop-target $late
}
if {$cfg(loss) > 0} {
    set lossmodel [selector $cfg(loss)]
    # Not insert-linkloss: a second call would only try to delete the first.
    set dl [$link link]
    $lossmodel target [$dl target]
    $dl target $lossmodel
    $lossmodel drop-target [$ns set nullAgent_]
}

set tcp [new Agent/TCP/$cfg(sender)]
$tcp set packetSize_ [expr {$cfg(wire) - $cfg(header)}]
$tcp set tcpip_base_hdr_size_ $cfg(header)
$tcp set window_ $cfg(window)
$tcp set windowInit_ $cfg(initwindow)
$tcp set minrto_ $cfg(minrto)
$tcp set singledup_ $cfg(singledup)
foreach pair [split $cfg(set) ,] {
    lassign [split $pair :] name value
    $tcp set $name $value
}
set sink Agent/TCPSink
if {$cfg(sender) eq "Sack1"} { append sink /Sack1 }
if {$cfg(delack)} { append sink /DelAck }
set sink [new $sink]
$ns attach-agent $s1 $tcp
$ns attach-agent $s2 $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

# The sink's bytes_ is a 32-bit counter of bytes delivered in order (on the wire):
# read it often enough to add up more than 4 GB.
set delivered 0
set last 0
set period [expr {min(500.0, 1e9 * 8 / $cfg(accessrate))}]
proc count {} {
    global sink delivered last
    set now [$sink set bytes_]
    incr delivered [expr {($now - $last) & 0xffffffff}]
    set last $now
}
proc tick {} {
    global ns period
    count
    $ns at [expr {[$ns now] + $period}] tick
}
proc begin {} {
    global tcp delivered from
    count
    set from(delivered) $delivered
    foreach {key var} {sent ndatapack_ rtx nrexmitpack_ rto nrexmit_ cuts ncwndcuts_} {
        set from($key) [$tcp set $var]
    }
}
proc finish {} {
    global tcp cfg delivered from wall
    set wall [expr {([clock microseconds] - $wall) / 1e6}]
    count
    set span [expr {double($cfg(duration)) - $cfg(warmup)}]
    set packets [expr {double($delivered - $from(delivered)) / $cfg(wire)}]
    foreach {key var} {sent ndatapack_ rtx nrexmitpack_ rto nrexmit_ cuts ncwndcuts_} {
        set $key [expr {[$tcp set $var] - $from($key)}]
    }
    puts [format "sender=%s delayed=%s loss=%s seed=%s seconds=%g packets_per_second=%.3f\
        sent=%d retransmits=%d timeouts=%d window_cuts=%d wall=%.3f" \
        $cfg(sender) $cfg(delayed) $cfg(loss) $cfg(seed) $span \
        [expr {$packets / $span}] $sent $rtx $rto $cuts $wall]
    exit 0
}

$ns at $period tick
$ns at $cfg(warmup) begin
$ns at $cfg(start) "$ftp start"
$ns at $cfg(duration) finish
# Start-up (OTcl, routes, the table) is over here.
set wall [clock microseconds]
$ns run
