//! All figures as one page: an overview, then each figure beside the claims of its paper.

use minijinja::{Value, context};

use super::{figure, numbers};
use crate::claims::tolerance;
use crate::experiment::{Claim, Example, Experiment, Kind, Panel};
use crate::reproduce::{ClaimOutcome, Count, FigureOutcome, Holds, by_class, summary};
use unruffled_lab::report::page::{page_of, style};
use unruffled_lab::report::playground::address;

/// The template of the page.
const TEMPLATES: [(&str, &str); 1] = [("reproduction.html", include_str!("reproduction.html"))];
const MORE_STYLE: &str = include_str!("reproduction.css");

/// The papers by their names in experiments: title and authors.
const PAPERS: [(&str, &str); 5] = [
    ("rr-tcp", "RR-TCP: A Reordering-Robust TCP with DSACK (Zhang, Karp, Floyd, Peterson)"),
    ("avg-dev", "AVG-DEV: Enhancing TCP Performance to Persistent Packet Reordering (Leung, Ma)"),
    (
        "tcp-pr",
        "TCP-PR: TCP for Persistent Packet Reordering (Bohacek, Hespanha, Lee, Lim, Obraczka)",
    ),
    ("tcp-dcr", "TCP-DCR: Making TCP Robust to Non-Congestion Events (Bhandarkar, Reddy)"),
    ("wb-rto", "WB-RTO: Why TCP Timers (still) Don’t Work Well (Psaras, Tsaoussidis)"),
];

/// Returns the title of a paper; an unknown name is returned unchanged.
pub(super) fn title(paper: &str) -> &str {
    PAPERS.iter().find(|(name, _)| *name == paper).map_or(paper, |(_, title)| title)
}

/// Groups the outcomes by paper, in their order.
pub(super) fn by_paper<'o, 'a>(
    outcomes: &'o [FigureOutcome<'a>],
) -> Vec<(&'a str, Vec<&'o FigureOutcome<'a>>)> {
    let mut papers: Vec<(&str, Vec<&FigureOutcome<'_>>)> = Vec::new();
    for outcome in outcomes {
        let paper = outcome.experiment.paper.as_str();
        match papers.iter_mut().find(|(name, _)| *name == paper) {
            Some((_, list)) => list.push(outcome),
            None => papers.push((paper, vec![outcome])),
        }
    }
    papers
}

/// Returns the heads and lines of the overview: a line for each paper, then one for all.
pub(super) fn overview(outcomes: &[FigureOutcome<'_>]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let line = |name: &str, figures: usize, count: Count| {
        let tested = count.hold + count.fail;
        let share = if tested == 0 {
            String::new()
        } else {
            format!("{:.0} %", 100.0 * count.hold as f64 / tested as f64)
        };
        vec![
            name.to_owned(),
            figures.to_string(),
            count.hold.to_string(),
            count.strictly.to_string(),
            count.fail.to_string(),
            count.not_tested.to_string(),
            share,
        ]
    };
    let papers = by_paper(outcomes);
    let mut lines: Vec<Vec<String>> = papers
        .iter()
        .map(|(name, list)| line(name, list.len(), count(list.iter().copied())))
        .collect();
    lines.push(line("all", outcomes.len(), count(outcomes)));
    let heads = [
        "paper",
        "figures and tables",
        "claims hold",
        "hold, close at every point",
        "fail",
        "not tested",
        "hold, of tested",
    ];
    (heads.to_vec(), lines)
}

/// Describes the numbers of failures by class, as a sentence.
pub(super) fn classes(outcomes: &[FigureOutcome<'_>]) -> Option<String> {
    by_class(count(outcomes)).map(|classes| format!("Of the claims that fail: {classes}."))
}

fn count<'o, 'a: 'o>(outcomes: impl IntoIterator<Item = &'o FigureOutcome<'a>>) -> Count {
    Count::of(outcomes.into_iter().flat_map(|o| &o.claims))
}

/// Describes how the runs were made.
pub(super) fn effort(outcomes: &[FigureOutcome<'_>]) -> String {
    let quick = outcomes.iter().any(|o| o.experiment.quick);
    let how = match quick {
        true => "Quick run: fewer seeds and points, shorter runs",
        false => "Full run",
    };
    format!("{how}; model {}", unruffled_lab::store::MODEL)
}

/// Describes the numbers of seeds and points of a figure.
pub(super) fn size(outcome: &FigureOutcome<'_>) -> String {
    let experiment = outcome.experiment;
    let mut parts = Vec::new();
    if experiment.lines.iter().any(|line| line.formula().is_none()) {
        parts.push(unruffled_units::count(experiment.seeds, "seed"));
    }
    if experiment.is_swept() {
        parts.push(unruffled_units::count(experiment.sweep.points.len(), "point"));
    }
    parts.join(", ")
}

/// Returns the command that reproduces a figure.
pub(super) fn command(outcome: &FigureOutcome<'_>) -> String {
    let quick = if outcome.experiment.quick { " --quick" } else { "" };
    format!(
        "unruffled reproduce {}{quick}",
        unruffled_lab::text::for_shell(outcome.experiment.name_or_file())
    )
}

fn claim(claim: &ClaimOutcome) -> Value {
    let holds = match claim.holds {
        Holds::Yes => "holds",
        Holds::No => "fails",
        Holds::NotTested => "untested",
    };
    let verdict = match claim.holds {
        Holds::Yes => "holds",
        Holds::No => "fails",
        Holds::NotTested => "not tested",
    };
    context! {
        holds,
        verdict,
        text => claim.text.as_str(),
        source => claim.source.as_deref(),
        expected => claim.expected.as_str(),
        measured => claim.measured.as_str(),
        at_every_point => claim.at_every_point,
        class => claim.failure().map(|cause| cause.class.name()),
        why => claim.why(),
        other_reading => claim.other_reading.as_deref(),
    }
}

/// Splits a text into paragraphs.
pub(super) fn paragraphs(text: &str) -> Vec<String> {
    let paragraphs = text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.filter(|p| !p.is_empty()).collect()
}

/// Returns the index of the drawing that a claim is about. Among the drawings of a measure that its
/// check names, it is the one with most of the lines that the check names. If there is one drawing,
/// all claims are about it.
fn panel(experiment: &Experiment, claim: &Claim) -> Option<usize> {
    let mut all = experiment.panels.iter().enumerate().filter(|(_, p)| p.kind != Kind::Table);
    if let (Some((index, _)), None) = (all.next(), all.next()) {
        return Some(index);
    }
    let check = experiment.source.text().get(claim.span.clone())?;
    let names = |name: &str| {
        let after = |(at, _): (usize, &str)| check[at + name.len()..].trim_start().starts_with('(');
        let whole = |(at, _): &(usize, &str)| {
            !check[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
        };
        check.match_indices(name).filter(whole).any(after)
    };
    let quoted =
        |name: &str| ['\'', '"', '`'].iter().any(|q| check.contains(&format!("{q}{name}{q}")));
    let lines = |panel: &Panel| {
        panel.lines.iter().filter(|&&line| quoted(&experiment.lines[line].name)).count()
    };
    let drawn = experiment.panels.iter().enumerate().filter(|(_, panel)| match panel.kind {
        Kind::Table | Kind::Time => false,
        Kind::Line | Kind::Points | Kind::Bars => names(&experiment.measures[panel.y].name),
    });
    let most = |best: (usize, usize), (index, panel): (usize, &Panel)| {
        let count = lines(panel);
        if count > best.1 { (index, count) } else { best }
    };
    let mut drawn = drawn.peekable();
    let first = drawn.peek()?.0;
    Some(drawn.fold((first, 0), most).0)
}

/// Returns the address of the playground with the point in the middle of a figure, and a description of
/// the point; none for formulae, and for what the page cannot show.
fn playground(experiment: &Experiment) -> Option<Value> {
    let Example { scenario, senders, point } = experiment.example().ok().flatten()?;
    let names: Vec<&str> = senders.iter().map(String::as_str).collect();
    let shown = [*names.first()?, *names.last()?];
    let address = address(&scenario.to_toml(&names), &names, shown)?;
    Some(context! { address, point })
}

fn of_figure(outcome: &FigureOutcome<'_>) -> Value {
    let experiment = outcome.experiment;
    let beside: Vec<Option<usize>> =
        outcome.experiment.claims.iter().map(|c| panel(experiment, c)).collect();
    let claims = |of: Option<usize>| -> Vec<Value> {
        let own = outcome.claims.iter().zip(&beside).filter(|(_, panel)| **panel == of);
        own.map(|(outcome, _)| claim(outcome)).collect()
    };
    let drawn = figure::panels(outcome).into_iter();
    let panels: Vec<Value> = drawn
        .map(|(index, title, svg)| {
            context! { title, svg => Value::from_safe_string(svg), claims => claims(Some(index)) }
        })
        .collect();
    let tables: Vec<_> = numbers::tables(outcome)
        .into_iter()
        .map(|t| context! { title => t.title, heads => t.heads, lines => t.lines })
        .collect();
    context! {
        id => experiment.id.as_str(),
        figure => experiment.figure.as_str(),
        title => experiment.title.as_str(),
        section => experiment.section.as_deref(),
        effort => size(outcome),
        command => command(outcome),
        colours => figure::colours(outcome),
        tables_open => panels.is_empty() || !experiment.is_swept(),
        panels,
        tables,
        marks => outcome.claims.iter().map(claim).collect::<Vec<_>>(),
        claims => claims(None),
        notes => paragraphs(&experiment.remarks.notes),
        assumed => experiment.remarks.assumed.clone(),
        toml => experiment.source.text(),
        scenario => outcome.scenario_toml.as_deref(),
        playground => playground(experiment),
    }
}

/// Returns the page. The same outcomes give the same bytes.
pub fn reproduction(outcomes: &[FigureOutcome<'_>]) -> String {
    let papers: Vec<Value> = by_paper(outcomes)
        .into_iter()
        .map(|(name, list)| {
            let finding = summary(count(list.iter().copied()));
            let figures: Vec<_> = list.into_iter().map(of_figure).collect();
            context! { title => title(name), finding, figures }
        })
        .collect();
    let (overview_heads, overview) = overview(outcomes);
    let inks = outcomes.iter().flat_map(figure::inks);
    page_of(
        &TEMPLATES,
        "reproduction.html",
        context! {
            style => style(inks, &[MORE_STYLE]),
            title => "The papers’ evaluations, redone",
            effort => effort(outcomes),
            finding => format!("{}.", summary(count(outcomes))),
            overview_heads,
            overview,
            classes => classes(outcomes),
            tolerances => tolerance::in_words(),
            papers,
        },
    )
}

#[cfg(test)]
mod tests;
