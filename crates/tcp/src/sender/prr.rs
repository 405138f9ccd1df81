//! Proportional rate reduction with the slow-start reduction bound (RFC 6937, section 3).

/// The state of one recovery, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prr {
    delivered: u32,
    out: u32,
    recover_fs: u32,
}

impl Prr {
    /// Recovery begins with `flight` segments outstanding (RecoverFS).
    pub(crate) fn begin(&mut self, flight: u32) {
        *self = Self { delivered: 0, out: 0, recover_fs: flight.max(1) };
    }

    /// How many segments this acknowledgement, which newly delivered `delivered`, lets go
    /// (sndcnt).
    pub(crate) fn on_ack(&mut self, delivered: u32, pipe: u32, ssthresh: u32) -> u32 {
        self.delivered += delivered;
        if pipe > ssthresh {
            let due = u64::from(self.delivered) * u64::from(ssthresh);
            let due = due.div_ceil(u64::from(self.recover_fs)) as u32;
            due.saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + 1;
            (ssthresh - pipe).min(limit)
        }
    }

    /// A segment, new or old, was sent (prr_out).
    pub(crate) fn on_sent(&mut self) {
        self.out += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_loss_of_twenty_spreads_the_reduction_over_the_round() {
        // RFC 6937, section 3.1, first example: segment 0 of 20 lost, ssthresh 10; acknowledgements
        // 1 and 2 each let a new segment go by limited transmit, 3 starts recovery.
        let mut prr = Prr::default();
        prr.begin(22);
        let mut pipe = 19_u32;
        let mut sent = String::new();
        for ack in 3..=19 {
            // The third acknowledgement also takes the lost segment out of the pipe.
            pipe -= 1;
            let allowed = prr.on_ack(1, pipe, 10);
            let count = if ack == 3 { allowed.max(1) } else { allowed };
            for _ in 0..count {
                prr.on_sent();
                pipe += 1;
            }
            sent.push(match (ack, count) {
                (3, 1) => 'R',
                (_, 0) => '.',
                (_, 1) => 'N',
                _ => '?',
            });
        }
        assert!(sent.starts_with('R') && !sent.contains('?'), "{sent}");
        assert_eq!(pipe, 10, "ends at ssthresh");
    }

    #[test]
    fn a_burst_of_losses_slow_starts_back_to_ssthresh() {
        // RFC 6937, section 3.1, second example, PRR-SSRB: 15 of 20 lost; one segment beyond
        // those delivered goes out with each acknowledgement.
        let mut prr = Prr::default();
        prr.begin(22);
        let mut pipe = 4_u32;
        for (ack, want) in [(17, 2), (18, 2), (19, 2)] {
            let count = prr.on_ack(1, pipe, 10);
            assert_eq!(count, want, "ack {ack}");
            for _ in 0..count {
                prr.on_sent();
            }
            pipe = pipe + count - 1;
        }
    }
}
