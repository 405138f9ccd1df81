//! The report of a sweep: the standings of the senders, for each key a heat map of senders by values,
//! and how to see what happened at the points that the cells of the maps lead to.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Value, context};
use unruffled_units::count;

use super::page::{self, colours, style_of};
use super::playground;
use crate::grid::{self, Sweep};
use crate::rate::Scale;

/// The most columns of numbers in a heat map; more numbers are grouped into spans.
const MAX_COLUMNS: usize = 12;

/// The most points that the report has one by one. Each takes 2 kB or more.
const MAX_SHOWN: usize = 150;

/// The name of a column, and its points.
type Column = (String, Vec<usize>);

/// Returns the report of a sweep. The same sweep gives the same bytes.
pub fn sweep(sweep: &Sweep) -> String {
    let plan = sweep.plan();
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let lines = sweep.standings().into_iter().map(|s| {
        vec![s.variant, s.wins.to_string(), percent(s.median_share), percent(s.worst_share)]
    });
    let shares = sweep.shares();
    let senders: Vec<&str> = plan.variants().collect();
    let columns: Vec<Vec<Column>> =
        (0..plan.keys().len()).map(|key| columns(&plan.values(key))).collect();
    let targets = Targets::of(&columns, &shares, senders.len());
    let keys = plan.keys().iter().zip(&columns).map(|(name, columns)| {
        let rows = senders.iter().enumerate().map(|(sender, name)| {
            let cell =
                |(value, points): &Column| cell(name, sender, value, points, &shares, &targets);
            context! { sender => *name, cells => columns.iter().map(cell).collect::<Vec<_>>() }
        });
        let rows: Vec<Value> = rows.collect();
        let values: Vec<String> = columns.iter().map(|(value, _)| value.clone()).collect();
        let spans = columns.iter().any(|(value, _)| value.contains(" to "));
        context! { name => name.as_str(), values, rows, spans }
    });
    let goodputs = sweep.goodputs();
    let shown = targets.all.iter().filter_map(|&point| {
        let (goodputs, shares) = (goodputs[point].as_ref()?, shares[point].as_ref()?);
        let before = targets.all.range(..point).next_back();
        let after = targets.all.range(point + 1..).next();
        let at = of_point(plan, point, &senders, goodputs, shares);
        Some(context! { before, after, ..at })
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
        by_sender => targets.by_sender,
        shown => shown.collect::<Vec<_>>(),
        shown_heads => ["sender", "goodput", "share %"],
        own => !plan.own().is_empty(),
        grid => plan.grid().text().1,
    };
    page::page("sweep.html", contents)
}

/// Returns a cell of a heat map, with the point that it leads to.
fn cell(
    name: &str,
    sender: usize,
    value: &str,
    points: &[usize],
    shares: &[Option<Vec<f64>>],
    targets: &Targets,
) -> Value {
    let there: Vec<f64> =
        points.iter().filter_map(|&p| Some(shares[p].as_ref()?[sender])).collect();
    if there.is_empty() {
        return context! { share => "0.0000", text => "", title => format!("{name} at {value}: no run") };
    }
    let mean = there.iter().sum::<f64>() / there.len() as f64;
    let text = format!("{:.0}", mean * 100.0);
    let point = targets.of_cell(points, shares, sender);
    let leads = point.map_or_else(String::new, |point| format!("; see point {point}"));
    let title = format!("{name} at {value}: {text}\u{a0}%{leads}");
    context! { share => format!("{mean:.4}"), text, title, point }
}

/// Returns the results at a point, and how to repeat it.
fn of_point(
    plan: &grid::Plan,
    point: usize,
    senders: &[&str],
    goodputs: &[f64],
    shares: &[f64],
) -> Value {
    let again = plan.again(point).expect("the plan has checked each point");
    let scale = Scale::of(goodputs.iter().copied());
    let lines = senders.iter().zip(goodputs).zip(shares).map(|((&sender, &bps), share)| {
        vec![sender.to_owned(), scale.with_unit(bps), format!("{:.1}", share * 100.0)]
    });
    // Of the senders that are built in, the worst and the best are drawn.
    let named: Vec<&str> = plan.named().iter().map(String::as_str).collect();
    let by_share = |a: &usize, b: &usize| shares[*a].total_cmp(&shares[*b]).then(b.cmp(a));
    let worst = (0..named.len()).min_by(by_share).map_or("", |at| named[at]);
    let best = (0..named.len()).filter(|&at| named[at] != worst).max_by(by_share);
    let shown = [worst, best.map_or(worst, |at| named[at])];
    context! {
        point,
        values => again.values,
        lines => lines.collect::<Vec<_>>(),
        playground => playground::address(&again.toml, &named, shown),
        command => again.command,
        toml => again.needs_file.then_some(again.toml),
    }
}

/// The points that the report has one by one, to which the cells of all heat maps lead.
struct Targets {
    all: BTreeSet<usize>,
    /// Whether each cell has the point at which its sender has the lowest share. Otherwise all cells of
    /// a column have the point at which some sender has the lowest share.
    by_sender: bool,
}

impl Targets {
    fn of(columns: &[Vec<Column>], shares: &[Option<Vec<f64>>], senders: usize) -> Self {
        let there = |point: &usize| shares[*point].is_some();
        if shares.len() <= MAX_SHOWN {
            return Self { all: (0..shares.len()).filter(there).collect(), by_sender: true };
        }
        let columns = || columns.iter().flatten();
        let of_cells = columns().flat_map(|(_, points)| {
            (0..senders).filter_map(|sender| lowest(points, shares, |shares| shares[sender]))
        });
        let all: BTreeSet<usize> = of_cells.collect();
        if all.len() <= MAX_SHOWN {
            return Self { all, by_sender: true };
        }
        let of_columns = columns().filter_map(|(_, points)| lowest(points, shares, least));
        Self {
            all: of_columns.collect::<BTreeSet<_>>().into_iter().take(MAX_SHOWN).collect(),
            by_sender: false,
        }
    }

    /// Returns the point of a cell.
    fn of_cell(
        &self,
        points: &[usize],
        shares: &[Option<Vec<f64>>],
        sender: usize,
    ) -> Option<usize> {
        let point = match self.by_sender {
            true => lowest(points, shares, |shares| shares[sender]),
            false => lowest(points, shares, least),
        };
        point.filter(|point| self.all.contains(point))
    }
}

/// Returns the lowest share at a point.
fn least(shares: &[f64]) -> f64 {
    shares.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns the first of the points with the lowest share.
fn lowest(
    points: &[usize],
    shares: &[Option<Vec<f64>>],
    share: impl Fn(&[f64]) -> f64,
) -> Option<usize> {
    let there = points.iter().filter_map(|&point| Some((point, share(shares[point].as_ref()?))));
    there.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))).map(|(point, _)| point)
}

/// Returns the values of a key, each with its points: texts in the order of their first point, then
/// numbers in ascending order. Many numbers are grouped into spans with about the same number of
/// values.
fn columns(values: &[grid::Value]) -> Vec<Column> {
    let mut texts: Vec<Column> = Vec::new();
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
    use super::super::tests::{assert_nests, targets};
    use super::*;
    use crate::cancel::never;
    use crate::grid::{Grid, Plan};

    #[test]
    fn each_cell_leads_to_a_point_with_its_results_and_a_command() {
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
        assert_nests(&html);
        // Each of the eight cells leads to one of the four points, and each point back to the maps.
        let links = |html: &str| html.matches("<a href=\"#point-").count();
        // Three points have one before, three have one after.
        assert_eq!(links(&html), 8 + 3 + 3);
        let targets = targets(&html);
        let points = targets.iter().filter(|target| target.starts_with("point-"));
        assert_eq!(points.count(), html.matches("class=\"point\"").count());
        assert!(targets.contains("maps"), "{targets:?}");
        for (point, extra, packets) in
            [(0, 20, "data"), (1, 20, "both"), (2, 40, "data"), (3, 40, "both")]
        {
            assert!(targets.contains(format!("point-{point}").as_str()), "{targets:?}");
            let part = html.split(&format!("id=\"point-{point}\"")).nth(1).expect("is there");
            let part = part.split("</article>").next().expect("ends");
            let command = format!(
                "unruffled compare half-late --variants sack,rack --seeds 1 --duration &#x27;1 s&#x27; \
                 --set &#x27;alternate.extra=&quot;{extra} ms&quot;&#x27; \
                 --set &#x27;alternate.packets=&quot;{packets}&quot;&#x27;<"
            );
            assert!(part.contains(&command), "{part}");
            let toml = format!("extra+%3D+%22{extra}+ms%22");
            assert!(part.contains(&toml), "{part}");
        }
    }

    #[test]
    fn a_cell_leads_to_the_point_at_which_its_sender_is_worst() {
        // Two senders at three points of one value; the second point has no run.
        let shares = vec![Some(vec![1.0, 0.4]), None, Some(vec![0.7, 1.0])];
        let columns = [vec![("a".to_owned(), vec![0, 1, 2])]];
        let targets = Targets::of(&columns, &shares, 2);
        assert_eq!(targets.all, BTreeSet::from([0, 2]));
        let of = |sender| targets.of_cell(&columns[0][0].1, &shares, sender);
        assert_eq!((of(0), of(1)), (Some(2), Some(0)));
        assert_eq!(targets.of_cell(&[1], &shares, 0), None);
        // Of a large sweep only the points of cells are left: all further points are best for both.
        let shares: Vec<_> = shares.into_iter().chain(vec![Some(vec![1.0, 1.0]); 200]).collect();
        let columns = [vec![("a".to_owned(), (0..203).collect())]];
        let targets = Targets::of(&columns, &shares, 2);
        assert_eq!((targets.all, targets.by_sender), (BTreeSet::from([0, 2]), true));
    }

    #[test]
    fn the_points_of_a_large_sweep_are_bounded() {
        // Two hundred senders, each worst at a point of its own; at point 7 one is worst of all.
        let low = |point: usize| if point == 7 { 0.1 } else { 0.5 };
        let at = |point: usize| {
            Some((0..200).map(|sender| if sender == point { low(point) } else { 1.0 }).collect())
        };
        let shares: Vec<Option<Vec<f64>>> = (0..200).map(at).collect();
        let columns = [vec![("a".to_owned(), (0..200).collect())]];
        let targets = Targets::of(&columns, &shares, 200);
        assert_eq!((targets.all.clone(), targets.by_sender), (BTreeSet::from([7]), false));
        assert_eq!(targets.of_cell(&columns[0][0].1, &shares, 3), Some(7));
    }

    #[test]
    fn many_numbers_are_grouped_in_order() {
        let values: Vec<_> = (0..30).rev().map(|n| grid::Value::Number(f64::from(n))).collect();
        let columns = columns(&values);
        assert_eq!(columns.len(), 10);
        assert_eq!(columns[0], ("0 to 2".to_owned(), vec![29, 28, 27]));
    }
}
