//! The machine against Table 3 written out with lists.

use super::*;

/// Table 3 with lists, as printed, but for what the text adds to it (see the comments above).
struct Table3 {
    slow_start: bool,
    cwnd: f64,
    ssthresh: f64,
    memorize: BTreeSet<SegNo>,
    cburst: u32,
    slowdown: Instant,
    srtt: f64,
    mxrtt: Duration,
    to_be_sent: BTreeSet<SegNo>,
    to_be_ack: BTreeSet<SegNo>,
    time: Vec<(Instant, f64)>,
}

impl Table3 {
    fn drop(&mut self, time: Instant) -> Option<SegNo> {
        let overdue = |&&n: &&SegNo| time > self.time[n as usize].0 + self.mxrtt;
        // Of several overdue, the one that was sent first has been overdue longest.
        let n = *self.to_be_ack.iter().filter(overdue).min_by_key(|&&n| self.time[n as usize].0)?;
        self.to_be_ack.remove(&n);
        self.to_be_sent.insert(n);
        if !self.memorize.contains(&n) {
            self.memorize = self.to_be_ack.clone();
            if self.time[n as usize].1 > 1.0 {
                self.cwnd = self.time[n as usize].1 / 2.0;
            } else {
                self.mxrtt = (self.mxrtt * 2).min(Duration::from_secs(60).max(self.mxrtt));
            }
            self.ssthresh = self.cwnd;
        } else {
            self.memorize.remove(&n);
            self.cburst = if self.memorize.is_empty() { 0 } else { self.cburst + 1 };
            if f64::from(self.cburst) > self.cwnd / 2.0 + 1.0 {
                self.cwnd = 1.0;
                self.slow_start = true;
                self.mxrtt = self.mxrtt.max(Duration::from_secs(1));
                self.slowdown = time + self.mxrtt;
            }
        }
        Some(n)
    }

    fn ack(&mut self, packets: &[SegNo], time: Instant) {
        let Some(&n) = packets.first() else { return };
        let sample = time.since(self.time[n as usize].0).as_secs_f64();
        self.srtt = (0.995_f64.powf(1.0 / self.cwnd) * self.srtt).max(sample);
        self.mxrtt = Duration::from_secs_f64(3.0 * self.srtt);
        for n in packets {
            self.to_be_ack.remove(n);
            self.to_be_sent.remove(n);
            self.memorize.remove(n);
        }
        if self.memorize.is_empty() {
            self.cburst = 0;
            if self.slow_start && self.cwnd + 1.0 <= self.ssthresh {
                self.cwnd += 1.0;
            } else {
                self.slow_start = false;
                self.cwnd += 1.0 / self.cwnd;
            }
        }
    }

    fn flush(&mut self, time: Instant) -> Vec<SegNo> {
        let mut sent = Vec::new();
        while self.slowdown <= time && self.cwnd > self.to_be_ack.len() as f64 {
            let k = self.to_be_sent.pop_first().unwrap_or(self.time.len() as u64);
            self.time.resize(self.time.len().max(k as usize + 1), (time, 0.0));
            self.time[k as usize] = (time, self.cwnd);
            self.to_be_ack.insert(k);
            sent.push(k);
        }
        sent
    }
}

proptest::proptest! {
    #[test]
    fn the_machine_does_what_table_3_says(
        steps in proptest::collection::vec((0_u64..150, 0_usize..8, 1_usize..4), 1..400),
    ) {
        let mut run = Run::timed(2);
        let mut table = Table3 {
            slow_start: true,
            cwnd: 2.0,
            ssthresh: f64::INFINITY,
            memorize: BTreeSet::new(),
            cburst: 0,
            slowdown: Instant::ZERO,
            srtt: 0.1,
            mxrtt: ms(300),
            to_be_sent: BTreeSet::new(),
            to_be_ack: BTreeSet::new(),
            time: Vec::new(),
        };
        let mut now = Instant::ZERO;
        let mut acked: BTreeSet<SegNo> = BTreeSet::new();
        for (later, from, count) in steps {
            now += ms(later);
            loop {
                let drop = run.drop(now).map(|(n, _)| n);
                assert_eq!(drop, table.drop(now));
                assert_eq!(run.flush(now), table.flush(now));
                if drop.is_none() {
                    break;
                }
            }
            // Some of those sent arrive, in any order, dropped or not: a selective acknowledgement.
            let open = (0..run.next).filter(|n| !acked.contains(n));
            let covered: Vec<SegNo> = open.skip(from).take(count).collect();
            acked.extend(&covered);
            table.ack(&covered, now);
            assert_eq!(run.ack(covered, now), table.flush(now));
            let cumulative = (0..).find(|n| !acked.contains(n)).expect("endless");
            run.pr.forget_below(cumulative);
            let window = (table.cwnd, table.ssthresh);
            assert_eq!((run.cwnd(), run.ssthresh()), window);
            assert_eq!((run.pr.srtt, run.pr.mxrtt()), (table.srtt, table.mxrtt));
            assert_eq!(run.pr.to_be_ack as usize, table.to_be_ack.len());
            assert_eq!(run.pr.memorized as usize, table.memorize.len());
            assert_eq!((run.pr.cburst, run.pr.slowdown), (table.cburst, table.slowdown));
        }
    }
}
