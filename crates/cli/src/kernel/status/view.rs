//! The view of `status --watch` on a terminal: its state, what keys do, and what is drawn, without I/O.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout as Areas, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};

use super::attached;
use super::observed::Observed;
use super::row::{Column, Order, Row};
use super::table::{Layout, summary, wrapped};
use crate::shown;

/// Part of the screen that the list of what is attached may take: one in so many lines.
const MAX_ATTACHED: u16 = 3;

/// State of the view.
#[derive(Clone, Debug)]
pub(super) struct View {
    order: Order,
    top: Option<usize>,
    /// Number of rows above the screen.
    offset: usize,
    /// Columns and rows of the last drawing, to which keys refer.
    columns: Vec<Column>,
    page: usize,
}

/// What a key requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Quit,
    Redraw,
    Nothing,
}

impl View {
    pub(super) fn new(order: Order, top: Option<usize>) -> Self {
        Self { order, top, offset: 0, columns: Vec::new(), page: 0 }
    }

    /// Handles a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> Request {
        if key.kind == KeyEventKind::Release {
            return Request::Nothing;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return if key.code == KeyCode::Char('c') { Request::Quit } else { Request::Nothing };
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Request::Quit,
            KeyCode::Char('s') | KeyCode::Right => self.sort_by_next(1),
            KeyCode::Char('S') | KeyCode::Left => self.sort_by_next(-1),
            KeyCode::Char('r') => self.order.is_reversed = !self.order.is_reversed,
            KeyCode::Down | KeyCode::Char('j') => self.offset += 1,
            KeyCode::Up | KeyCode::Char('k') => self.offset = self.offset.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => self.offset += self.page,
            KeyCode::PageUp => self.offset = self.offset.saturating_sub(self.page),
            KeyCode::Home => self.offset = 0,
            KeyCode::End => self.offset = usize::MAX / 2,
            _ => return Request::Nothing,
        }
        Request::Redraw
    }

    /// Sorts by the column so many places behind the present one, among those that are shown.
    fn sort_by_next(&mut self, places: isize) {
        let columns = &self.columns;
        let Some(last) = columns.len().checked_sub(1) else { return };
        let next = match columns.iter().position(|column| *column == self.order.column) {
            Some(place) if places > 0 => {
                if place == last {
                    0
                } else {
                    place + 1
                }
            }
            Some(place) => place.checked_sub(1).unwrap_or(last),
            None => 0,
        };
        self.order = Order::by(columns[next]);
    }

    /// Draws the state.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, observed: &Observed) {
        let area = frame.area();
        let width = usize::from(area.width).max(1);
        let attached = lines(&self.attached(observed, width, area.height / MAX_ATTACHED));
        let mut rows = observed.rows.clone();
        self.order.sort(&mut rows);
        rows.truncate(self.top.unwrap_or(usize::MAX));
        let mut below = summary(
            observed.rows.len(),
            observed.rows.len() - rows.len(),
            &observed.status,
            observed.is_registered,
        );
        if !observed.has_rates {
            below.push("rates follow after the first interval".to_owned());
        }
        let reversed = if self.order.is_reversed { ", reversed" } else { "" };
        let heading = self.order.column.heading();
        let keys = format!("q quit  s sort ({heading}{reversed})  r reverse  up, down scroll");
        let below = lines(&(wrapped(&below.join("; "), width) + wrapped(&keys, width).as_str()));
        let height = |text: &Text<'_>| u16::try_from(text.height()).unwrap_or(u16::MAX);
        let [top, _, table, bottom] = Areas::vertical([
            Constraint::Length(height(&attached)),
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(height(&below)),
        ])
        .areas(area);
        frame.render_widget(attached, top);
        self.draw_table(frame, table, &rows);
        frame.render_widget(below, bottom);
    }

    /// Returns what is attached: line by line, or in brief if that takes more than `height`.
    fn attached(&self, observed: &Observed, width: usize, height: u16) -> String {
        let Observed { attached, is_registered, names, .. } = observed;
        let whole = attached::render(attached, *is_registered, names, width);
        if whole.lines().count() <= usize::from(height) {
            return whole;
        }
        wrapped(&attached::brief(attached, *is_registered), width)
    }

    fn draw_table(&mut self, frame: &mut Frame<'_>, area: Rect, rows: &[Row]) {
        let layout = Layout::new(rows, usize::from(area.width));
        let sortable = layout.shown.iter().map(|(column, _)| *column);
        self.columns = sortable.filter(|column| *column != Column::Note).collect();
        self.page = usize::from(area.height.saturating_sub(1));
        self.offset = self.offset.min(rows.len().saturating_sub(self.page));
        if rows.is_empty() {
            return;
        }
        let spans = layout.headings_by_column().into_iter().map(|(column, text)| {
            let is_sorted = column == Some(self.order.column);
            let style = if is_sorted { Modifier::REVERSED } else { Modifier::BOLD };
            Span::styled(text, Style::new().add_modifier(style))
        });
        let mut table = vec![Line::from_iter(spans)];
        let visible = rows.iter().skip(self.offset).take(self.page);
        table.extend(visible.map(|row| Line::raw(shown::shown(&layout.row(row), None))));
        frame.render_widget(Text::from(table), area);
    }
}

/// Returns text in the locale's character set.
fn lines(text: &str) -> Text<'static> {
    Text::raw(shown::shown(text.trim_end(), None))
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use std::time::Duration;
    use unruffled_kernel::{AttachedNamespace, Attachments, Growth, Status};

    use super::super::attached::Names;
    use super::super::row::example;
    use super::*;

    fn observed(number: u16) -> Observed {
        let row = |port: u16| {
            let mut row = example(&format!("192.0.2.1:{port}"));
            row.connection.rate_bps = 1e6 * f64::from(port);
            row.connection.retransmissions = u32::from(1000 - port);
            row
        };
        let namespace = AttachedNamespace {
            inode: 1,
            growth: Some(Growth::Cubic),
            former: Some("reno".to_owned()),
            since: None,
        };
        Observed {
            attached: Attachments { namespaces: vec![namespace], ..Attachments::default() },
            is_registered: true,
            status: Status { interval: Duration::from_secs(1), ..Status::default() },
            rows: (1..=number).map(row).collect(),
            names: Names { own: 1, ..Names::default() },
            has_rates: true,
            resequencer: None,
        }
    }

    /// Returns the lines of the screen.
    fn screen(view: &mut View, observed: &Observed, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| view.draw(frame, observed)).expect("it draws");
        let buffer = terminal.backend().buffer();
        let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| row(y).trim_end().to_owned()).collect()
    }

    fn press(view: &mut View, code: KeyCode) -> Request {
        view.press(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn ports(screen: &[String]) -> Vec<&str> {
        let rows = screen.iter().filter_map(|line| line.strip_prefix("192.0.2.1:"));
        rows.map(|row| row.split(' ').next().expect("a word")).collect()
    }

    #[test]
    fn the_screen_has_attachments_connections_and_keys() {
        let mut view = View::new(Order::by(Column::Rate), None);
        let lines = screen(&mut view, &observed(3), 80, 12);
        assert_eq!(lines[0], "kernel   unruffled, until the end of a `run` or a `race`");
        assert_eq!(lines[1], "default  unruffled in this network namespace, in place of reno");
        assert_eq!(lines[2], "");
        assert!(lines[3].starts_with("peer "), "{lines:?}");
        assert_eq!(ports(&lines), ["3", "2", "1"]);
        assert_eq!(lines[10], "3 connections");
        assert_eq!(lines[11], "q quit  s sort (Mb/s)  r reverse  up, down scroll");
    }

    #[test]
    fn keys_sort_scroll_and_quit() {
        let mut view = View::new(Order::by(Column::Rate), None);
        let observed = observed(9);
        // Five rows: twelve lines without two about attachments, a blank, the headings and three below.
        let lines = screen(&mut view, &observed, 80, 11);
        assert_eq!(ports(&lines), ["9", "8", "7", "6", "5"]);
        assert_eq!(press(&mut view, KeyCode::Down), Request::Redraw);
        assert_eq!(ports(&screen(&mut view, &observed, 80, 11)), ["8", "7", "6", "5", "4"]);
        press(&mut view, KeyCode::PageDown);
        assert_eq!(ports(&screen(&mut view, &observed, 80, 11)), ["5", "4", "3", "2", "1"]);
        press(&mut view, KeyCode::Home);
        press(&mut view, KeyCode::Char('r'));
        let lines = screen(&mut view, &observed, 80, 11);
        assert_eq!(ports(&lines), ["1", "2", "3", "4", "5"]);
        assert!(lines[10].contains("s sort (Mb/s, reversed)"), "{lines:?}");
        press(&mut view, KeyCode::End);
        press(&mut view, KeyCode::Char('S'));
        assert_eq!(view.order, Order::by(Column::Program));
        press(&mut view, KeyCode::Char('s'));
        assert_eq!(view.order, Order::by(Column::Rate));
        assert_eq!(press(&mut view, KeyCode::Char('x')), Request::Nothing);
        for code in [KeyCode::Char('q'), KeyCode::Esc] {
            assert_eq!(press(&mut view, code), Request::Quit);
        }
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(view.press(interrupt), Request::Quit);
    }

    #[test]
    fn sorting_goes_around_the_columns_that_are_shown() {
        let mut view = View::new(Order::by(Column::Pid), None);
        let observed = observed(2);
        // Before the first drawing there are no columns.
        press(&mut view, KeyCode::Char('s'));
        assert_eq!(view.order.column, Column::Pid);
        screen(&mut view, &observed, 80, 20);
        // There is no room for the process.
        assert!(!view.columns.contains(&Column::Pid), "{:?}", view.columns);
        press(&mut view, KeyCode::Char('s'));
        assert_eq!(view.order.column, Column::Peer);
        press(&mut view, KeyCode::Left);
        assert_eq!(view.order.column, *view.columns.last().expect("a column"));
        press(&mut view, KeyCode::Right);
        assert_eq!(view.order.column, Column::Peer);
    }

    #[test]
    fn fewer_rows_are_shown_on_request() {
        let mut view = View::new(Order::by(Column::Rtx), Some(2));
        let lines = screen(&mut view, &observed(9), 80, 20);
        assert_eq!(ports(&lines), ["1", "2"]);
        assert!(lines.contains(&"9 connections; 7 of them not shown".to_owned()), "{lines:?}");
    }

    #[test]
    fn the_smallest_screens_are_drawn() {
        for (width, height) in [(1, 1), (5, 3), (20, 4), (80, 2), (300, 100)] {
            let mut view = View::new(Order::by(Column::Rate), None);
            assert_eq!(screen(&mut view, &observed(50), width, height).len(), usize::from(height));
            assert_eq!(screen(&mut view, &observed(0), width, height).len(), usize::from(height));
        }
    }
}
