//! Every colour of the report, for light and dark paper.
//!
//! Plotters writes colours as attributes (`stroke="#0072B2"`). It is given the light colour; the
//! stylesheet maps that attribute to a custom property, which changes with the reader's preference.
//! The colours of variants follow Okabe and Ito, darkened or lightened until they stand out from the
//! paper by 3 to 1 (WCAG 1.4.11); the text by 4.5 to 1.

use std::fmt::Write as _;

use plotters::style::RGBColor;

/// A colour by its role.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ink {
    /// The custom property, without its dashes.
    pub(super) name: &'static str,
    light: u32,
    dark: u32,
}

impl Ink {
    /// What plotters draws with.
    pub(super) fn colour(self) -> RGBColor {
        let [_, r, g, b] = self.light.to_be_bytes();
        RGBColor(r, g, b)
    }
}

const fn ink(name: &'static str, light: u32, dark: u32) -> Ink {
    Ink { name, light, dark }
}

pub(super) const PAPER: Ink = ink("paper", 0xFFFFFF, 0x15181B);
/// Text, and marks that belong to no variant.
pub(super) const TEXT: Ink = ink("text", 0x1B1F23, 0xE6E8EA);
/// Axes, their labels, captions.
pub(super) const MUTED: Ink = ink("muted", 0x5B636B, 0xA4ABB3);
/// Grid lines and rules.
pub(super) const GRID: Ink = ink("grid", 0xE3E6E9, 0x2D3237);
/// Times in which an impairment is at work.
pub(super) const SHADE: Ink = ink("shade", 0xEEF1F4, 0x20262C);
/// Spurious retransmissions.
pub(super) const ALERT: Ink = ink("alert", 0xC8102E, 0xFF7A85);

const VARIANTS: [Ink; 12] = [
    ink("v1", 0x0072B2, 0x4FA3E3),
    ink("v2", 0xB57A00, 0xE6AC2E),
    ink("v3", 0x008A64, 0x2FC79A),
    ink("v4", 0xB0578D, 0xE08FC0),
    ink("v5", 0x5B3FA8, 0xB39DF0),
    ink("v6", 0x77771C, 0xC6C65E),
    ink("v7", 0x882256, 0xF0A48F),
    ink("v8", 0x6C6F73, 0xB4B8BD),
    ink("v9", 0xD1550B, 0xFF8A4C),
    ink("v10", 0x3A8FC9, 0x8CD0F5),
    ink("v11", 0x3D6B1E, 0x8FCB6B),
    ink("v12", 0x7A4A1E, 0xC99B6D),
];

/// The colour of the variant at `index` in the comparison, in every plot.
pub(super) fn variant(index: usize) -> Ink {
    VARIANTS[index % VARIANTS.len()]
}

/// The custom properties, and the rules that put them in the place of plotters' attributes.
pub(super) fn stylesheet() -> String {
    let mut css = String::new();
    for (open, close, dark) in
        [(":root{", "}\n", false), ("@media (prefers-color-scheme:dark){:root{", "}}\n", true)]
    {
        css += open;
        for ink in all() {
            let value = if dark { ink.dark } else { ink.light };
            let _ = write!(css, "--{}:#{value:06X};", ink.name);
        }
        css += close;
    }
    for Ink { name, light, .. } in all() {
        let _ = writeln!(css, "svg [fill=\"#{light:06X}\"]{{fill:var(--{name})}}");
        let _ = writeln!(css, "svg [stroke=\"#{light:06X}\"]{{stroke:var(--{name})}}");
    }
    css
}

fn all() -> impl Iterator<Item = Ink> {
    [PAPER, TEXT, MUTED, GRID, SHADE, ALERT].into_iter().chain(VARIANTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Contrast of two colours by WCAG 2.2.
    fn contrast(a: u32, b: u32) -> f64 {
        let luminance = |colour: u32| {
            let [_, r, g, b] = colour.to_be_bytes().map(|c| match f64::from(c) / 255.0 {
                c if c <= 0.04045 => c / 12.92,
                c => ((c + 0.055) / 1.055).powf(2.4),
            });
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b) = (luminance(a), luminance(b));
        f64::max(a, b) / f64::min(a, b)
    }

    #[test]
    fn marks_stand_out_from_the_paper_in_both_modes() {
        for ink in VARIANTS.into_iter().chain([ALERT]) {
            assert!(contrast(ink.light, PAPER.light) >= 3.0, "{ink:?}");
            assert!(contrast(ink.dark, PAPER.dark) >= 3.0, "{ink:?}");
        }
        for ink in [TEXT, MUTED] {
            assert!(contrast(ink.light, PAPER.light) >= 4.5, "{ink:?}");
            assert!(contrast(ink.dark, PAPER.dark) >= 4.5, "{ink:?}");
        }
    }

    #[test]
    fn each_role_has_an_attribute_of_its_own() {
        let lights: HashSet<u32> = all().map(|ink| ink.light).collect();
        assert_eq!(lights.len(), all().count());
    }
}
