//! Compares the code with a literal copy of Tables 1 and 3 that uses lists. Where the paper leaves
//! something open, the copy follows the same reading as the code. Values computed by hand are in
//! `table_1` and `table_3`.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::test_runner::{Config as Proptest, RngAlgorithm, TestRng, TestRunner};

use super::*;

/// A table with lists, as printed, and with the rules that the text adds.
struct Table {
    form: Form,
    whole: Whole,
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
    /// How often lines 9, 9b and 12c to 12f of Table 3 were reached, and line 22 while memorize was
    /// not empty, which is possible only with Table 1.
    reached: [u32; 4],
}

impl Table {
    /// Returns a table after a handshake that took 100 ms.
    fn new(form: Form, whole: Whole, cwnd: f64) -> Self {
        Self {
            form,
            whole,
            slow_start: true,
            cwnd,
            ssthresh: f64::INFINITY,
            memorize: BTreeSet::new(),
            cburst: 0,
            slowdown: Instant::ZERO,
            srtt: 0.1,
            mxrtt: ms(300),
            to_be_sent: BTreeSet::new(),
            to_be_ack: BTreeSet::new(),
            time: Vec::new(),
            reached: [0; 4],
        }
    }

    fn drop(&mut self, time: Instant) -> Option<SegNo> {
        let overdue = |&&n: &&SegNo| time > self.time[n as usize].0 + self.mxrtt;
        // Of several overdue packets, the one sent first has been overdue longest.
        let n = *self.to_be_ack.iter().filter(overdue).min_by_key(|&&n| self.time[n as usize].0)?;
        self.to_be_ack.remove(&n);
        self.to_be_sent.insert(n);
        if !self.memorize.contains(&n) {
            self.memorize = self.to_be_ack.clone();
            let cwnd_n = self.time[n as usize].1;
            if self.form == Form::Basic {
                self.cwnd = (cwnd_n / 2.0).max(1.0);
            } else if cwnd_n > 1.0 {
                self.cwnd = cwnd_n / 2.0;
                self.reached[0] += 1;
            } else {
                self.mxrtt = (self.mxrtt * 2).min(Duration::from_secs(60));
                self.reached[1] += 1;
            }
            self.ssthresh = self.cwnd;
        } else {
            self.memorize.remove(&n);
            if self.form == Form::Basic {
                return Some(n);
            }
            self.cburst = if self.memorize.is_empty() { 0 } else { self.cburst + 1 };
            if f64::from(self.cburst) > self.cwnd / 2.0 + 1.0 {
                self.cwnd = 1.0;
                self.slow_start = true;
                self.mxrtt = self.mxrtt.max(Duration::from_secs(1));
                self.slowdown = time + self.mxrtt;
                self.reached[2] += 1;
            }
        }
        Some(n)
    }

    fn ack(&mut self, packets: &[SegNo], time: Instant) {
        let Some(&n) = packets.first() else { return };
        let sample = time.since(self.time[n as usize].0).as_secs_f64();
        self.srtt = (libm::pow(0.995, 1.0 / self.cwnd) * self.srtt).max(sample);
        self.mxrtt = Duration::from_secs_f64(3.0 * self.srtt).min(Duration::from_secs(60));
        for n in packets {
            self.to_be_ack.remove(n);
            self.to_be_sent.remove(n);
            self.memorize.remove(n);
        }
        if self.form == Form::Extreme {
            if !self.memorize.is_empty() {
                return;
            }
            self.cburst = 0;
        }
        if self.slow_start && self.cwnd + 1.0 <= self.ssthresh {
            self.cwnd += 1.0;
        } else {
            self.slow_start = false;
            self.cwnd += 1.0 / self.cwnd;
            self.reached[3] += u32::from(!self.memorize.is_empty());
        }
    }

    fn flush(&mut self, time: Instant) -> Vec<SegNo> {
        let mut sent = Vec::new();
        // With whole packets, cwnd 3.5 counts as 3, and less than one as one.
        let cwnd = match self.whole {
            Whole::Never => self.cwnd,
            Whole::Always if self.cwnd < 1.0 => 1.0,
            Whole::Always => self.cwnd.trunc(),
        };
        while self.slowdown <= time && cwnd > self.to_be_ack.len() as f64 {
            let k = self.to_be_sent.pop_first().unwrap_or(self.time.len() as u64);
            self.time.resize(self.time.len().max(k as usize + 1), (time, 0.0));
            self.time[k as usize] = (time, self.cwnd);
            self.to_be_ack.insert(k);
            sent.push(k);
        }
        sent
    }
}

/// The time that passes, in ms, and then the unacknowledged packets that are acknowledged: the
/// index of the first, and their number.
type Step = (u64, usize, usize);

/// Runs `steps` on the code and on the table. Returns how often the table reached its lines.
fn run_steps(form: Form, whole: Whole, steps: &[Step]) -> [u32; 4] {
    let mut run = Run::with_form(form, 2);
    run.pr.settings.whole = whole;
    run.pr.on_handshake(ms(100));
    let mut table = Table::new(form, whole, 2.0);
    let mut now = Instant::ZERO;
    let mut acked: BTreeSet<SegNo> = BTreeSet::new();
    for &(later, from, count) in steps {
        now += ms(later);
        loop {
            let drop = run.drop(now).map(|(n, _)| n);
            assert_eq!(drop, table.drop(now));
            assert_eq!(run.flush(now), table.flush(now));
            if drop.is_none() {
                break;
            }
        }
        // A selective acknowledgement covers packets in any order, dropped or not.
        let open = (0..run.next).filter(|n| !acked.contains(n));
        let covered: Vec<SegNo> = open.skip(from).take(count).collect();
        acked.extend(&covered);
        table.ack(&covered, now);
        assert_eq!(run.ack(covered, now), table.flush(now));
        let cumulative = (0..).find(|n| !acked.contains(n)).expect("endless");
        run.pr.discard_below(cumulative);
        let window = (table.cwnd, table.ssthresh);
        assert_eq!((run.cwnd(), run.ssthresh()), window);
        assert_eq!((run.pr.srtt, run.pr.mxrtt()), (table.srtt, table.mxrtt));
        assert_eq!(run.pr.lists.to_be_ack() as usize, table.to_be_ack.len());
        assert_eq!(run.pr.lists.memorized() as usize, table.memorize.len());
        assert_eq!((run.pr.cburst, run.pr.slowdown), (table.cburst, table.slowdown));
    }
    table.reached
}

/// Runs many series of random steps, always the same ones. Returns the number of series that
/// reached each line.
fn run_series(form: Form) -> [u32; 4] {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Proptest { failure_persistence: None, ..Proptest::with_cases(256) };
    let mut runner = TestRunner::new_with_rng(config, rng);
    // Packets arrive in order, or all but the first few, or in any order, or none arrives for a
    // long time.
    let in_order = vec((0_u64..20, 0_usize..1, 1_usize..4), 1..60);
    let holes = vec((0_u64..20, 1_usize..4, 1_usize..3), 1..60);
    let reordered = vec((0_u64..100, 0_usize..12, 1_usize..3), 1..60);
    let blackout = vec((200_u64..3000, 0_usize..1, 0_usize..1), 1..8);
    let series = vec(proptest::prop_oneof![in_order, holes, reordered, blackout], 1..12);
    let reached = Cell::new([0_u32; 4]);
    let result = runner.run(&series, |steps| {
        let steps = steps.concat();
        run_steps(form, Whole::Always, &steps);
        let lines = run_steps(form, Whole::Never, &steps);
        let count = |i: usize| reached.get()[i] + u32::from(lines[i] > 0);
        reached.set([count(0), count(1), count(2), count(3)]);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    reached.get()
}

#[test]
fn the_basic_form_has_the_same_results_as_table_1() {
    let reached = run_series(Form::Basic);
    assert_eq!(reached[..3], [0; 3], "none of Table 3's lines");
    assert!(reached[3] > 32, "growth while memorize is not empty: {reached:?} of 256");
}

#[test]
fn the_extreme_form_has_the_same_results_as_table_3() {
    let reached = run_series(Form::Extreme);
    assert!(reached[..3].iter().all(|&n| n > 64), "9, 9b, 12c to 12f: {reached:?} of 256");
    assert_eq!(reached[3], 0, "no growth while memorize is not empty");
}
