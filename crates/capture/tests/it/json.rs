//! Keys of the JSON, which users' scripts depend on.

use crate::trace::Trace;

const DIRECTION: &str = "from to place packets segments payload_bytes acks cut_acks delayed_acks \
    timestamps stream_bytes segment_bytes transfer_s goodput_bps retransmissions losses \
    loss_evidence reordering_here reordering_at_receiver rtt windows limits spacing_ms crowded \
    flight acked";

const RETRANSMISSIONS: &str = "total needed spurious spurious_by_dsack spurious_by_timestamps \
    spurious_by_acknowledgement spurious_by_original spurious_by_time timeouts syns old_packets dsacks \
    dsacks_unexplained duplicates syn_duplicates duplicate_acks keepalives judged_by_time";

const WINDOWS: &str = "recoveries needless_recoveries cuts needless_cuts recovery_s \
    needless_recovery_s largest_flight largest_window zero_windows closed_s probes";

const TOTALS: &str = "frames bytes duration_s start_s tcp_packets udp_packets skipped \
    interfaces tcp_connections udp_pairs given_up segments retransmitted spurious reordered lateness \
    clock_step_ms";

const REORDERING: &str = "packets reordered ratio mean_extent max_extent extent_at_least_3 \
    late_time n_reordered free_runs mean_free_run free_run_variation density buffer_density in_turn \
    hold_ms replay cutoffs";

#[test]
fn the_keys_of_the_json_are_stable() {
    let mut trace = Trace::at_sender(true);
    trace.data(100.0, 0, 2).ack(150.0, 1, 2, &[]);
    let analysis = serde_json::to_value(trace.analysis()).unwrap();
    let direction = &analysis["connections"][0]["directions"][0];
    for (value, keys) in [
        (&analysis["totals"], TOTALS),
        (direction, DIRECTION),
        (&direction["retransmissions"], RETRANSMISSIONS),
        (&direction["windows"], WINDOWS),
        (&direction["reordering_here"], REORDERING),
    ] {
        let mut found: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected: Vec<&str> = keys.split(' ').collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
