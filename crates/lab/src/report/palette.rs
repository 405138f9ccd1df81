//! The colours of reports in light and dark mode.
//!
//! Plotters writes colours as attributes (`stroke="#0072B2"`). It draws in the colours of light mode;
//! the style sheet maps each of these attributes to a custom property, whose value depends on the
//! reader's preference. Marks have a contrast of at least 3 to 1 with the background (WCAG 1.4.11),
//! text one of 4.5 to 1. [`look`](super::look) has the colours of senders.

use std::fmt::Write as _;

use plotters::style::RGBColor;

/// A colour in light and dark mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ink {
    /// The name of its role; none if it is the colour of a sender.
    role: Option<&'static str>,
    /// The colour in light mode, as `0xRRGGBB`.
    pub light: u32,
    /// The colour in dark mode.
    pub dark: u32,
}

impl Ink {
    /// Returns the ink of a sender.
    pub const fn of_sender(light: u32, dark: u32) -> Self {
        Self { role: None, light, dark }
    }

    /// Returns the colour for plotters.
    pub fn colour(self) -> RGBColor {
        let [_, r, g, b] = self.light.to_be_bytes();
        RGBColor(r, g, b)
    }

    /// Returns the name of the custom property, without its dashes. The property of a sender is named by
    /// its colour in light mode.
    pub fn property(self) -> String {
        self.role.map_or_else(|| format!("s{:06X}", self.light), str::to_owned)
    }
}

const fn ink(role: &'static str, light: u32, dark: u32) -> Ink {
    Ink { role: Some(role), light, dark }
}

/// The background.
pub const PAPER: Ink = ink("paper", 0xFFFFFF, 0x15181B);
/// Text, and marks of no particular variant.
pub const TEXT: Ink = ink("text", 0x1B1F23, 0xE6E8EA);
/// Axes, their labels, and captions.
pub const MUTED: Ink = ink("muted", 0x5B636B, 0xA4ABB3);
/// Grid lines and rules.
pub const GRID: Ink = ink("grid", 0xE3E6E9, 0x2D3237);
/// Time spans with an active impairment.
pub const SHADE: Ink = ink("shade", 0xEEF1F4, 0x20262C);
/// Spurious retransmissions.
pub const ALERT: Ink = ink("alert", 0xC8102E, 0xFF7A85);

/// Highlights: the finding, and new data in a capture.
pub const ACCENT: Ink = ink("accent", 0x1A6FAF, 0x5AA8E2);
/// Late packets.
pub const LATE: Ink = ink("late", 0xB57A00, 0xE6AC2E);
/// Claims that hold, and large shares.
pub const GOOD: Ink = ink("good", 0x007F5B, 0x2FC79A);

pub(super) const ROLES: [Ink; 9] = [PAPER, TEXT, MUTED, GRID, SHADE, ALERT, ACCENT, LATE, GOOD];

/// Returns a style sheet with the custom properties of all roles and of these inks, and with the rules
/// that replace the attributes of plotters.
pub fn stylesheet(inks: impl IntoIterator<Item = Ink>) -> String {
    let mut all = ROLES.to_vec();
    for ink in inks {
        if !all.contains(&ink) {
            all.push(ink);
        }
    }
    let mut css = String::new();
    for (open, close, dark) in
        [(":root{", "}\n", false), ("@media (prefers-color-scheme:dark){:root{", "}}\n", true)]
    {
        css += open;
        for ink in &all {
            let value = if dark { ink.dark } else { ink.light };
            let _ = write!(css, "--{}:#{value:06X};", ink.property());
        }
        css += close;
    }
    for ink in all {
        let name = ink.property();
        let light = ink.light;
        let _ = writeln!(css, "svg [fill=\"#{light:06X}\"]{{fill:var(--{name})}}");
        let _ = writeln!(css, "svg [stroke=\"#{light:06X}\"]{{stroke:var(--{name})}}");
    }
    css
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Returns the contrast of two colours by WCAG 2.2.
    pub(in crate::report) fn contrast(a: u32, b: u32) -> f64 {
        let luminance = |colour: u32| {
            let [r, g, b] = linear(colour);
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let a = luminance(a);
        let b = luminance(b);
        f64::max(a, b) / f64::min(a, b)
    }

    /// Returns the linear values of the three channels, from 0 to 1.
    pub(in crate::report) fn linear(colour: u32) -> [f64; 3] {
        let [_, rgb @ ..] = colour.to_be_bytes();
        rgb.map(|c| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        })
    }

    #[test]
    fn marks_and_text_have_enough_contrast_in_both_modes() {
        for ink in [ACCENT, LATE] {
            assert!(contrast(ink.light, PAPER.light) >= 3.0, "{ink:?}");
            assert!(contrast(ink.dark, PAPER.dark) >= 3.0, "{ink:?}");
        }
        for ink in [TEXT, MUTED, GOOD, ALERT] {
            assert!(contrast(ink.light, PAPER.light) >= 4.5, "{ink:?}");
            assert!(contrast(ink.dark, PAPER.dark) >= 4.5, "{ink:?}");
        }
    }

    #[test]
    fn the_colours_of_roles_differ_in_light_mode() {
        let lights: HashSet<u32> = ROLES.iter().map(|ink| ink.light).collect();
        assert_eq!(lights.len(), ROLES.len());
    }

    #[test]
    fn the_stylesheet_has_each_ink_once() {
        let ink = Ink::of_sender(0x0072B2, 0x4FA3E3);
        let css = stylesheet([ink, GOOD, ink]);
        assert_eq!(css.matches("--s0072B2:").count(), 2, "light and dark: {css}");
        assert_eq!(css.matches("--good:").count(), 2, "{css}");
    }
}
