//! The drawings of an experiment.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use super::Reader;
use crate::experiment::file::{self, Kind};
use crate::experiment::model::{Line, Measure, Panel, Sweep, TimeCurve};
use unruffled_scenario::Error;

impl Reader {
    /// Reads the drawings. Each falls back to the settings for all.
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

    /// Reads a drawing; what `panel` lacks comes from `usual`.
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
        let curves = self.curves(panel, usual, lines, &shown)?;
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
        for own in [panel, usual] {
            if let (Some(kind), Some(curve)) = (own.kind, &own.curve)
                && kind != Kind::Time
            {
                return Err(self.source.wrong(&curve.span(), "expected with kind = \"time\" only"));
            }
        }
        let at = match panel.at.as_ref().or(usual.at.as_ref()) {
            None => 0,
            Some(at) => self.point_at(at, sweep)?,
        };
        let y = match panel.y.as_ref().or(usual.y.as_ref()) {
            None => 0,
            Some(name) => self.measure(measures, name)?,
        };
        let own = |a: &Option<String>, b: &Option<String>| a.clone().or_else(|| b.clone());
        let (y_range, x_range) = (&panel.y_range, &panel.x_range);
        let y_log = panel.y_log.or(usual.y_log).unwrap_or(false);
        let x_log = sweep.log && kind != Kind::Time;
        Ok(Panel {
            title: own(&panel.title, &usual.title),
            kind,
            y,
            y_label: own(&panel.y_label, &usual.y_label),
            y_range: self.range(y_range.as_ref().or(usual.y_range.as_ref()), y_log)?,
            y_log,
            x_label: own(&panel.x_label, &usual.x_label),
            x_range: self.range(x_range.as_ref().or(usual.x_range.as_ref()), x_log)?,
            lines: shown,
            curves,
            at,
            dots: panel.dots.or(usual.dots).unwrap_or(false),
            rule: self.height(panel.rule.as_ref().or(usual.rule.as_ref()), y_log)?,
        })
    }

    /// Reads the time series that a panel draws for the lines that it shows.
    fn curves(
        &self,
        panel: &file::Panel,
        usual: &file::Panel,
        lines: &[Line],
        shown: &[usize],
    ) -> Result<Vec<TimeCurve>, Error> {
        let mut curves = Vec::new();
        if let Some(curve) = panel.curve.as_ref().or(usual.curve.as_ref()) {
            for &line in shown.iter().filter(|&&l| lines[l].formula.is_none()) {
                let (name, ast) = (lines[line].label.clone(), self.compile(curve)?);
                curves.push(TimeCurve { name, line, ast, span: curve.span() });
            }
        }
        for (name, curve) in in_file_order(&panel.curves).chain(in_file_order(&usual.curves)) {
            let (line, ast) = (shown.first().copied().unwrap_or(0), self.compile(curve)?);
            curves.push(TimeCurve { name: name.clone(), line, ast, span: curve.span() });
        }
        Ok(curves)
    }

    /// Returns the index of the point at this value; in a quick sweep, the nearest one.
    fn point_at(&self, at: &Spanned<f64>, sweep: &Sweep) -> Result<usize, Error> {
        let distance = |point: usize| (sweep.points[point].x - at.get_ref()).abs();
        let nearest = (0..sweep.points.len()).min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        let nearest = nearest.unwrap_or(0);
        if !self.quick && sweep.points[nearest].x != *at.get_ref() {
            return Err(self.source.wrong(&at.span(), "expected one of the values of [x]"));
        }
        Ok(nearest)
    }

    fn height(&self, rule: Option<&Spanned<f64>>, log: bool) -> Result<Option<f64>, Error> {
        let Some(rule) = rule else { return Ok(None) };
        if !rule.get_ref().is_finite() || (log && *rule.get_ref() <= 0.0) {
            return Err(self.source.wrong(&rule.span(), "expected a height on the axis"));
        }
        Ok(Some(*rule.get_ref()))
    }

    fn range(
        &self,
        range: Option<&Spanned<[f64; 2]>>,
        log: bool,
    ) -> Result<Option<[f64; 2]>, Error> {
        let Some(range) = range else { return Ok(None) };
        let [low, high] = *range.get_ref();
        // Neither comparison holds for NaN.
        if !(low < high && (high - low).is_finite()) {
            return Err(self.source.wrong(&range.span(), "expected [lowest, highest]"));
        }
        if log && low <= 0.0 {
            let message = "expected [lowest, highest], above 0 on a logarithmic axis";
            return Err(self.source.wrong(&range.span(), message));
        }
        Ok(Some([low, high]))
    }
}

/// The curves in the order of the file.
fn in_file_order(
    curves: &BTreeMap<String, Spanned<String>>,
) -> impl Iterator<Item = (&String, &Spanned<String>)> {
    let mut curves: Vec<_> = curves.iter().collect();
    curves.sort_by_key(|(_, curve)| curve.span().start);
    curves.into_iter()
}
