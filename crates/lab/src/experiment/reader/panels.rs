//! The drawings of an experiment.

use std::ops::Range;

use toml::Spanned;

use super::Reader;
use crate::error::Error;
use crate::experiment::file::{self, Kind};
use crate::experiment::{Line, Measure, Panel, Point, Sweep, TimeCurve};

impl Reader {
    /// The drawings: what the file says of each, and else of all.
    pub(super) fn panels(
        &self,
        file: &file::File,
        measures: &[Measure],
        lines: &[Line],
        sweep: &Sweep,
    ) -> Result<Vec<Panel>, Error> {
        let nothing = file::Panel::default();
        let usual = file.plot.as_ref().map_or(&nothing, Spanned::get_ref);
        let single = [&nothing];
        let panels: Vec<&file::Panel> = match file.panel.as_slice() {
            [] => single.to_vec(),
            panels => panels.iter().map(Spanned::get_ref).collect(),
        };
        panels.into_iter().map(|panel| self.panel(panel, usual, measures, lines, sweep)).collect()
    }

    /// What `panel` says, and else what `usual` says for all.
    fn panel(
        &self,
        panel: &file::Panel,
        usual: &file::Panel,
        measures: &[Measure],
        lines: &[Line],
        sweep: &Sweep,
    ) -> Result<Panel, Error> {
        let index = |name: &str, span: &Range<usize>| {
            lines.iter().position(|l| l.name == name).ok_or_else(|| {
                let names: Vec<&str> = lines.iter().map(|l| l.name.as_str()).collect();
                let expected = names.join(", ");
                self.source.wrong(span, format!("no line {name:?}: expected some of {expected}"))
            })
        };
        let shown: Vec<usize> = match panel.lines.as_ref().or(usual.lines.as_ref()) {
            None => (0..lines.len()).collect(),
            Some(names) => {
                let span = names.span();
                let found = names.get_ref().iter().map(|name| index(name, &span));
                found.collect::<Result<_, _>>()?
            }
        };
        let mut curves = Vec::new();
        if let Some(curve) = panel.curve.as_ref().or(usual.curve.as_ref()) {
            for &line in shown.iter().filter(|&&l| lines[l].formula.is_none()) {
                let (name, ast) = (lines[line].label.clone(), self.compile(curve)?);
                curves.push(TimeCurve { name, line, ast, span: curve.span() });
            }
        }
        for (name, curve) in panel.curves.iter().chain(&usual.curves) {
            let (line, ast) = (shown.first().copied().unwrap_or(0), self.compile(curve)?);
            curves.push(TimeCurve { name: name.clone(), line, ast, span: curve.span() });
        }
        let usual_kind = match (curves.is_empty(), sweep.label.is_some()) {
            (false, _) => Kind::Time,
            (true, true) => Kind::Line,
            (true, false) => Kind::Bars,
        };
        let kind = panel.kind.or(usual.kind).unwrap_or(usual_kind);
        if kind == Kind::Time && curves.is_empty() {
            let message = "missing: expected curve = \"series('bottleneck', 'queue')\", say";
            return Err(self.missing("plot.curve", message));
        }
        let at = match panel.at.as_ref().or(usual.at.as_ref()) {
            None => 0,
            // The quick sweep may lack the point: then the nearest.
            Some(at) => {
                let distance = |p: &Point| (p.x - at.get_ref()).abs();
                let nearest = (0..sweep.points.len()).min_by(|&a, &b| {
                    distance(&sweep.points[a]).total_cmp(&distance(&sweep.points[b]))
                });
                let nearest = nearest.unwrap_or(0);
                if !self.quick && sweep.points[nearest].x != *at.get_ref() {
                    let message = "expected one of the values of [x]";
                    return Err(self.source.wrong(&at.span(), message));
                }
                nearest
            }
        };
        let y = match panel.y.as_ref().or(usual.y.as_ref()) {
            None => 0,
            Some(name) => self.measure(measures, name)?,
        };
        let range = |own: &Option<Spanned<[f64; 2]>>, usual: &Option<Spanned<[f64; 2]>>| {
            let Some(range) = own.as_ref().or(usual.as_ref()) else { return Ok(None) };
            let [low, high] = *range.get_ref();
            if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
                return Err(self.source.wrong(&range.span(), "expected [lowest, highest]"));
            }
            Ok(Some([low, high]))
        };
        let own = |a: &Option<String>, b: &Option<String>| a.clone().or_else(|| b.clone());
        Ok(Panel {
            title: own(&panel.title, &usual.title),
            kind,
            y,
            y_label: own(&panel.y_label, &usual.y_label),
            y_range: range(&panel.y_range, &usual.y_range)?,
            y_log: panel.y_log.or(usual.y_log).unwrap_or(false),
            x_label: own(&panel.x_label, &usual.x_label),
            x_range: range(&panel.x_range, &usual.x_range)?,
            lines: shown,
            curves,
            at,
            dots: panel.dots.or(usual.dots).unwrap_or(false),
            rule: panel.rule.or(usual.rule),
        })
    }
}
