//! The report of a sweep: the standings of the senders, and for each key a heat map of senders by
//! values.

use std::collections::BTreeMap;

use minijinja::{Value, context};
use unruffled_units::count;

use super::page::{self, colours, style_of};
use crate::grid::{self, Sweep};

/// The most columns of numbers in a heat map; more numbers are grouped into spans.
const MAX_COLUMNS: usize = 12;

/// Returns the report of a sweep. The same sweep gives the same bytes.
pub fn sweep(sweep: &Sweep) -> String {
    let plan = sweep.plan();
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let lines = sweep.standings().into_iter().map(|s| {
        vec![s.variant, s.wins.to_string(), percent(s.median_share), percent(s.worst_share)]
    });
    let shares = sweep.shares();
    let senders: Vec<&str> = plan.variants().collect();
    let keys = plan.keys().iter().enumerate().map(|(key, name)| {
        let columns = columns(&plan.values(key));
        let rows = senders.iter().enumerate().map(|(sender, name)| {
            let cell = |(_, points): &(String, Vec<usize>)| {
                let there: Vec<f64> =
                    points.iter().filter_map(|&p| Some(shares[p].as_ref()?[sender])).collect();
                let mean = there.iter().sum::<f64>() / there.len() as f64;
                let text = if there.is_empty() { String::new() } else { format!("{:.0}", mean * 100.0) };
                context! { share => format!("{:.4}", if there.is_empty() { 0.0 } else { mean }), text }
            };
            context! { sender => *name, cells => columns.iter().map(cell).collect::<Vec<_>>() }
        });
        let rows: Vec<Value> = rows.collect();
        let values: Vec<String> = columns.iter().map(|(value, _)| value.clone()).collect();
        let spans = columns.iter().any(|(value, _)| value.contains(" to "));
        context! { name => name.as_str(), values, rows, spans }
    });
    let contents = context! {
        style => style_of(senders.iter().copied()),
        colours => colours(senders.iter().copied()),
        title => format!("{}: senders by points", plan.name()),
        points => count(plan.points(), "point"),
        runs => count(plan.runs(), "run"),
        outside => plan.grid().outside().to_vec(),
        heads => ["sender", "wins at", "median share %", "worst share %"],
        lines => lines.collect::<Vec<_>>(),
        keys => keys.collect::<Vec<_>>(),
        grid => plan.grid().text().1,
    };
    page::page("sweep.html", contents)
}

/// Returns the values of a key, each with its points: texts in the order of their first point, then
/// numbers in ascending order. Many numbers are grouped into spans with about the same number of
/// values.
fn columns(values: &[grid::Value]) -> Vec<(String, Vec<usize>)> {
    let mut texts: Vec<(String, Vec<usize>)> = Vec::new();
    let mut numbers: BTreeMap<u64, (f64, Vec<usize>)> = BTreeMap::new();
    for (point, value) in values.iter().enumerate() {
        match value {
            grid::Value::Number(number) => {
                // The bits of numbers that are not negative have the order of the numbers.
                numbers.entry(number.to_bits()).or_insert((*number, Vec::new())).1.push(point);
            }
            grid::Value::Text(text) => match texts.iter_mut().find(|(known, _)| known == text) {
                Some((_, points)) => points.push(point),
                None => texts.push((text.clone(), vec![point])),
            },
        }
    }
    let numbers: Vec<(f64, Vec<usize>)> = numbers.into_values().collect();
    let span = |of: &[(f64, Vec<usize>)]| {
        let ends = [of.first(), of.last()].map(|end| end.map_or(0.0, |(number, _)| short(*number)));
        let name =
            if of.len() == 1 { ends[0].to_string() } else { format!("{} to {}", ends[0], ends[1]) };
        (name, of.iter().flat_map(|(_, points)| points.iter().copied()).collect())
    };
    let each = if numbers.len() > MAX_COLUMNS { numbers.len().div_ceil(MAX_COLUMNS) } else { 1 };
    texts.extend(numbers.chunks(each).map(span));
    texts
}

/// Rounds a number to three digits.
fn short(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::never;
    use crate::grid::{Grid, Plan};

    #[test]
    fn the_report_has_a_cell_for_each_sender_and_value_and_refers_to_nothing_outside() {
        let text = "scenario = 'half-late'\nvariants = ['sack', 'rack']\nseeds = 1\n\
                    [grid]\nalternate.extra = ['20 ms', '40 ms']\nalternate.packets = ['data', 'both']\n";
        let set = ["duration=1 s".to_owned()];
        let grid = Grid::parse("grid.toml", text, None, &set).expect("is a grid");
        let plan = Plan::new(grid, None, Vec::new(), never()).expect("makes sense");
        let swept = Sweep::new(plan, None).expect("no store fails");
        swept.run(never(), &()).expect("runs");
        let html = sweep(&swept);
        assert_eq!(html.matches("class=\"heat\"").count(), 2 * (2 + 2));
        for part in
            ["half-late: senders by points", "4 points, 8 runs", "with duration=1 s", "[grid]"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(html.contains("<span>0.02</span>") && html.contains("<span>both</span>"), "{html}");
        super::super::tests::assert_nests(&html);
        for reference in ["http://", "https://", "src=", "href=", "url(", "<script"] {
            assert!(!html.contains(reference), "{reference}");
        }
    }

    #[test]
    fn many_numbers_are_grouped_in_order() {
        let values: Vec<_> = (0..30).rev().map(|n| grid::Value::Number(f64::from(n))).collect();
        let columns = columns(&values);
        assert_eq!(columns.len(), 10);
        assert_eq!(columns[0], ("0 to 2".to_owned(), vec![29, 28, 27]));
    }
}
