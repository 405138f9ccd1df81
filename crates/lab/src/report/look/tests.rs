use std::collections::HashMap;
use std::fs;
use std::path::Path;

use unruffled_tcp::variant::PARTS;
use unruffled_tcp::{ROWS, Variant};

use super::{OTHERS, SENDERS, of, other};
use crate::report::palette::tests::{contrast, linear};
use crate::report::palette::{ALERT, Ink, MUTED, PAPER, TEXT};
use unruffled_scenario::{BUILTIN, Scenario};

/// Converts a colour to Oklab (Ottosson 2020), in which distances are perceived distances.
fn oklab(colour: u32) -> [f64; 3] {
    let [r, g, b] = linear(colour);
    let cone = |of: [f64; 3]| (of[0] * r + of[1] * g + of[2] * b).cbrt();
    let l = cone([0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9]);
    let m = cone([0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6]);
    let s = cone([0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5]);
    [
        0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s,
        1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
        0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
    ]
}

/// Returns the distance of two inks, in the mode in which it is smaller.
fn distance(a: Ink, b: Ink) -> f64 {
    let apart = |a: u32, b: u32| -> f64 {
        let a = oklab(a);
        let b = oklab(b);
        a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    apart(a.light, b.light).min(apart(a.dark, b.dark))
}

/// Returns the names of all senders of the table with one or two of the parts that they accept.
fn combined() -> Vec<String> {
    let mut names = Vec::new();
    for row in ROWS {
        for a in PARTS {
            names.push(format!("{}+{}", row.name, a.name));
            let two = PARTS.iter().map(|b| format!("{}+{}+{}", row.name, a.name, b.name));
            names.extend(two.filter(|name| Variant::named(name).is_some()));
        }
    }
    names.retain(|name| Variant::named(name).is_some());
    assert!(names.len() > 60, "{}", names.len());
    names
}

#[test]
fn the_colours_of_all_senders_differ() {
    for row in ROWS {
        assert!(SENDERS.iter().any(|(name, _, _)| *name == row.name), "{}", row.name);
    }
    let all: Vec<(&str, Ink)> = SENDERS.iter().map(|(name, _, _)| (*name, of(name).ink)).collect();
    for (i, (name, ink)) in all.iter().enumerate() {
        for (other, beside) in &all[..i] {
            assert!(distance(*ink, *beside) > 0.04, "{name}, {other}: {ink:?}, {beside:?}");
        }
    }
}

#[test]
fn colours_have_enough_contrast_in_both_modes() {
    let names = SENDERS.iter().map(|(name, _, _)| (*name).to_owned());
    let inks = names.chain(combined()).map(|name| of(&name).ink);
    for ink in inks.chain((0..OTHERS.len()).map(|nth| other(nth).ink)) {
        assert!(contrast(ink.light, PAPER.light) >= 3.0, "{ink:?}");
        assert!(contrast(ink.dark, PAPER.dark) >= 3.0, "{ink:?}");
    }
}

#[test]
fn each_colour_in_light_mode_has_one_colour_in_dark_mode() {
    let mut darks: HashMap<u32, u32> = HashMap::new();
    let names = SENDERS.iter().map(|(name, _, _)| (*name).to_owned());
    let inks = names.chain(combined()).map(|name| of(&name).ink);
    let roles = [ALERT, MUTED, PAPER, TEXT];
    for ink in inks.chain((0..OTHERS.len()).map(|nth| other(nth).ink)).chain(roles) {
        let known = *darks.entry(ink.light).or_insert(ink.dark);
        assert_eq!(known, ink.dark, "{ink:?}");
    }
}

/// Returns the groups of senders that are compared by default.
fn together() -> Vec<Vec<String>> {
    let names = |of: &[&str]| of.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let kernels = names(&["kernel-cubic", "kernel-reno", "kernel-bbr", "kernel-unruffled"]);
    let mut all = Vec::new();
    for (name, _) in BUILTIN {
        let senders = Scenario::load(name, &[]).expect("is built in").variants;
        all.push([senders, kernels.clone()].concat());
    }
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../papers/experiments");
    let folders = fs::read_dir(papers).expect("the papers").map(|entry| entry.expect("is there"));
    let folders = folders.map(|entry| entry.path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder).expect("experiments"));
    for file in files.map(|entry| entry.expect("is there").path()) {
        let text = fs::read_to_string(&file).expect("is text");
        let experiment: toml::Table = toml::from_str(&text).expect("is TOML");
        let lines = experiment["line"].as_array().expect("has lines");
        let mut senders: Vec<_> = lines
            .iter()
            .filter_map(|line| Some(line.get("variant")?.as_str()?.to_owned()))
            .collect();
        senders.sort_unstable();
        senders.dedup();
        all.push(senders);
    }
    assert!(all.len() > 60, "{}", all.len());
    all
}

#[test]
fn senders_that_are_compared_by_default_have_distinct_colours() {
    for names in together() {
        for (i, a) in names.iter().enumerate() {
            for b in &names[..i] {
                let apart = distance(of(a).ink, of(b).ink);
                assert!(apart > 0.08, "{a} and {b}: {apart:.3}");
            }
            for role in [ALERT, TEXT, MUTED] {
                assert!(distance(of(a).ink, role) > 0.05, "{a} and {role:?}");
            }
        }
    }
}

#[test]
fn the_colour_depends_on_the_parts_and_not_on_their_order() {
    for name in combined() {
        let base = name.split('+').next().expect("has a name");
        assert!(distance(of(&name).ink, of(base).ink) > 0.05, "{name}");
        assert_eq!(of(&name).marker, of(base).marker, "{name}");
    }
    assert_eq!(of("rack+cubic+eifel"), of("rack+eifel+cubic"));
    assert_ne!(of("rack+mine").ink, of("rack").ink);
}

#[test]
fn names_that_are_not_in_the_table_have_a_colour() {
    for name in ["kernel-vegas", "mine", "", "+", "<b>", "ü"] {
        assert_eq!(of(name), of(name));
    }
    assert!(OTHERS.iter().any(|&(light, _)| of("kernel-vegas").ink.light == light));
}

/// Returns the text of a file of the web page; none in a crate without the repository.
fn of_the_page(path: &str) -> Option<String> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let there = web.is_dir();
    there.then(|| fs::read_to_string(web.join(path)).unwrap_or_else(|e| panic!("{path}: {e}")))
}

#[test]
fn the_page_has_the_same_colours() {
    let Some(text) = of_the_page("src/plots/look.ts") else { return };
    let part = |from: &str| -> Vec<String> {
        let part = text.split(&format!("const {from}")).nth(1).expect(from);
        let lines = part.split("\n}").next().and_then(|part| part.split("\n]").next());
        let lines = lines.expect("has lines").lines().skip(1);
        lines.map(|line| line.trim().replace(['\'', ','], "")).collect()
    };
    let named = |table: &[(&str, u32, u32)]| -> Vec<String> {
        let line = |(name, light, dark): &(&str, u32, u32)| {
            format!("{name}: [0x{light:06x} 0x{dark:06x}]")
        };
        table.iter().map(line).collect()
    };
    assert_eq!(part("SENDERS"), named(&SENDERS));
    assert_eq!(part("PARTS"), named(&super::PARTS));
    let others = OTHERS.iter().map(|(light, dark)| format!("[0x{light:06x} 0x{dark:06x}]"));
    assert_eq!(part("OTHERS"), others.collect::<Vec<_>>());
    assert!(text.contains(&format!("const PART_SHARE = {};", super::PART_SHARE_PERCENT)));
}

#[test]
fn the_page_has_the_same_inks_in_both_modes() {
    let Some(text) = of_the_page("src/style.css") else { return };
    let (light, dark) = text.split_once("[data-theme=\"dark\"]").expect("has two modes");
    for ink in crate::report::palette::ROLES {
        for (css, colour) in [(light, ink.light), (dark, ink.dark)] {
            let value = css.split(&format!("--{}: #", ink.property())).nth(1).expect("is there");
            let value = value.split(';').next().expect("ends");
            // `#fff` is `#ffffff`.
            let twice = |value: &str| value.chars().flat_map(|c| [c, c]).collect::<String>();
            let value = if value.len() == 3 { twice(value) } else { value.to_owned() };
            assert_eq!(value, format!("{colour:06x}"), "{ink:?}");
        }
    }
}

#[test]
fn the_page_has_the_same_version_of_the_plot_library() {
    let Some(text) = of_the_page("package-lock.json") else { return };
    let lock: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
    let version = lock["packages"]["node_modules/uplot"]["version"].as_str().expect("is there");
    let readme = include_str!("../uplot/README.md");
    assert!(readme.starts_with(&format!("uPlot {version},")), "{version}: {readme}");
    let page = include_str!("../capture.html");
    assert!(page.contains(&format!("uPlot {version},")), "{version}");
}
