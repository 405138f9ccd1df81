# The window of a sender that is short of data in ns-2.35: ten packets a second over an empty path.
#
#   ns growth.tcl [sender=Reno] [window=100] [pages=12] [set=name:value,...]
#
# Prints a line for each page: its number, from 1, and cwnd_ just before the next one.

array set cfg { sender Reno window 100 pages 12 set {} }
foreach arg $argv {
    if {![regexp {^([a-z]+)=(.*)$} $arg -> key value] || ![info exists cfg($key)]} {
        puts stderr "growth.tcl: unknown option '$arg'; known: [lsort [array names cfg]]"
        exit 2
    }
    set cfg($key) $value
}
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns duplex-link $from $to 10e6 0.05 DropTail
$ns queue-limit $from $to 1000000
set tcp [new Agent/TCP/$cfg(sender)]
set sinktype Agent/TCPSink
if {$cfg(sender) eq "Sack1"} { append sinktype /Sack1 }
set sink [new $sinktype]
$tcp set packetSize_ 1000
$tcp set tcpip_base_hdr_size_ 40
$tcp set window_ $cfg(window)
$tcp set windowInit_ 2
$tcp set minrto_ 1
foreach pair [split $cfg(set) ,] {
    lassign [split $pair :] name value
    $tcp set $name $value
}
$ns attach-agent $from $tcp
$ns attach-agent $to $sink
$ns connect $tcp $sink
for {set page 1} {$page <= $cfg(pages)} {incr page} {
    $ns at [expr {$page - 1}] "$tcp advanceby 10"
    $ns at [expr {$page - 0.001}] "puts \"page $page cwnd \[format %.4g \[$tcp set cwnd_\]\]\""
}
$ns at $cfg(pages) "exit 0"
$ns run
