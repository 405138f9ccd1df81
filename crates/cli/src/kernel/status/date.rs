//! Dates of the Gregorian calendar in UTC.

const DAY: u64 = 86_400;

/// Days of 400 years, of 100 years without the leap day of the last one, and of 4 years.
const CYCLE: u64 = 146_097;

/// Returns the date and the time of seconds since 1970, to the minute.
pub(super) fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / DAY, seconds % DAY);
    // Years that begin in March, so that a leap day is the last of a year. 1970-01-01 is 719,468 days after
    // 0000-03-01.
    let days = days + 719_468;
    let (cycle, day) = (days / CYCLE, days % CYCLE);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March on have 30.6 days on average: 31, 30, 31, 30, 31, and again.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let is_next_year = month >= 10;
    let year = 400 * cycle + year + u64::from(is_next_year);
    let month = if is_next_year { month - 9 } else { month + 3 };
    let (hour, minute) = (rest / 3600, rest % 3600 / 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `date -u -d @N`.
    #[test]
    fn seconds_since_1970_have_a_date() {
        let dates = [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_799, "2000-02-29 23:59 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (1_795_887_600, "2026-11-28 17:40 UTC"),
            (4_107_542_399, "2100-02-28 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ];
        for (seconds, expected) in dates {
            assert_eq!(date(seconds), expected);
        }
    }
}
