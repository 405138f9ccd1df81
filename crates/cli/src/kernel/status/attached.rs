//! What is attached, in words.

use std::collections::BTreeMap;

use unruffled_doctor::Place;
use unruffled_kernel::{AttachedControl, AttachedNamespace, Attachments};
use unruffled_units::count;

use super::date::date;
use super::row::{growth, namespace_name};
use crate::output::hanging;

/// Maximum number of network namespaces, cgroups or interfaces that are listed.
const MAX_LISTED: usize = 5;

/// Columns of the first word of each line.
const HEAD: usize = 9;

/// Network namespaces in words.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Inode of the command's own.
    pub(super) own: u64,
    pub(super) places: BTreeMap<u64, Place>,
}

impl Names {
    /// Returns a network namespace in words. `None` if it is that of the command.
    pub(super) fn of(&self, inode: u64) -> Option<String> {
        namespace_name(inode, self.own, self.places.get(&inode))
    }

    fn in_words(&self, inode: u64) -> String {
        self.of(inode).unwrap_or_else(|| "this network namespace".to_owned())
    }
}

/// Returns lines about what is attached, since when and how. `is_registered`: a congestion control is in the
/// kernel, which may be by a command that goes on.
pub(super) fn render(
    attached: &Attachments,
    is_registered: bool,
    names: &Names,
    columns: usize,
) -> String {
    let mut lines = Vec::new();
    for control in &attached.controls {
        lines.push(("kernel", of_control(control)));
    }
    if attached.controls.is_empty() && is_registered {
        lines.push(("kernel", "unruffled, until the end of a `run` or a `race`".to_owned()));
    }
    if let Some(all) = &attached.all {
        let daemon = match all.process {
            Some(process) => format!("by process {process}, also later ones"),
            None => "the daemon has ended, so not later ones: expected `attach --all`".to_owned(),
        };
        let text = format!("{} for every network namespace, {daemon}", all.growth.control());
        lines.push(("all", text + since(Some(all.since)).as_str()));
    }
    let (listed, others) = split(&attached.namespaces);
    for namespace in listed {
        lines.push(("default", of_namespace(namespace, names)));
    }
    if others > 0 {
        let more = attached.namespaces.len() - others;
        let which = if more > 0 { "other network namespace" } else { "network namespace" };
        lines.push(("default", format!("of {}", count(others, which))));
    }
    let (listed, others) = split(&attached.cgroups);
    for cgroup in listed {
        let path = crate::on_one_line(&cgroup.path.display().to_string());
        let text = format!("{} for new connections of {path}", cgroup.growth.control());
        lines.push(("cgroup", text + since(Some(cgroup.since)).as_str()));
    }
    if others > 0 {
        lines.push(("cgroup", count(others, "other cgroup")));
    }
    lines.extend(of_filters(attached, names).into_iter().map(|line| ("filters", line)));
    if lines.is_empty() {
        return "nothing is attached\n".to_owned();
    }
    let line =
        |(head, text): (&str, String)| hanging(&format!("{head:<HEAD$}"), &text, Some(columns));
    lines.into_iter().map(line).collect()
}

/// Returns the items that are listed, and the number of the others.
fn split<T>(items: &[T]) -> (&[T], usize) {
    let listed = if items.len() <= MAX_LISTED { items.len() } else { MAX_LISTED - 1 };
    (&items[..listed], items.len() - listed)
}

fn since(time: Option<u64>) -> String {
    time.map(|time| format!(", since {}", date(time))).unwrap_or_default()
}

fn of_control(control: &AttachedControl) -> String {
    let version = match &control.version {
        Some(version) => format!(" {}", crate::on_one_line(version)),
        None => " of an older version".to_owned(),
    };
    let other = if control.is_of_this_build { "" } else { ", another build than this command" };
    let name = control.growth.control();
    format!("{name}{version}{}{other}", since(control.since))
}

fn of_namespace(namespace: &AttachedNamespace, names: &Names) -> String {
    let place = names.in_words(namespace.inode);
    let now = match namespace.growth {
        Some(growth) => growth.control().to_owned(),
        None => "another one now".to_owned(),
    };
    match &namespace.former {
        Some(former) => {
            let former = crate::on_one_line(former);
            format!("{now} in {place}, in place of {former}{}", since(namespace.since))
        }
        None => format!("{now} in {place}, inherited, with timestamps"),
    }
}

/// Returns a line for each network namespace with programs on its interfaces.
fn of_filters(attached: &Attachments, names: &Names) -> Vec<String> {
    let mut places: BTreeMap<u64, (Vec<String>, Option<u64>)> = BTreeMap::new();
    for filter in &attached.filters {
        let name = filter.name.as_deref().map(crate::on_one_line);
        let name = name.unwrap_or_else(|| format!("interface {}", filter.interface));
        let (interfaces, latest) = places.entry(filter.namespace).or_default();
        interfaces.push(name);
        *latest = (*latest).max(filter.since);
    }
    let mut lines = Vec::new();
    for (namespace, (interfaces, latest)) in places {
        let (listed, others) = split(&interfaces);
        let mut list = listed.join(", ");
        if others > 0 {
            list += &format!(" and {}", count(others, "other interface"));
        }
        let place = names.in_words(namespace);
        lines.push(format!("no timestamps by {list} of {place}{}", since(latest)));
    }
    let (listed, others) = split(&lines);
    let mut shown = listed.to_vec();
    if others > 0 {
        shown.push(format!(
            "no timestamps by those of {}",
            count(others, "other network namespace")
        ));
    }
    shown
}

/// Returns the name of a growth and of what it is attached to, for the terminal's title line.
pub(super) fn brief(attached: &Attachments, is_registered: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    for control in &attached.controls {
        parts.push(format!("{} in the kernel", growth(control.growth)));
    }
    if attached.controls.is_empty() && is_registered {
        parts.push("in the kernel for a `run` or a `race`".to_owned());
    }
    match attached.all.as_ref().map(|all| all.process) {
        Some(Some(process)) => parts.push(format!("all namespaces, by process {process}")),
        Some(None) => parts.push("all namespaces, but the daemon has ended".to_owned()),
        None => {}
    }
    let number = attached.namespaces.len();
    if number > 0 {
        parts.push(format!("default of {}", count(number, "namespace")));
    }
    if !attached.cgroups.is_empty() {
        parts.push(count(attached.cgroups.len(), "cgroup"));
    }
    if !attached.filters.is_empty() {
        parts.push(format!("{} without timestamps", count(attached.filters.len(), "interface")));
    }
    if parts.is_empty() { "nothing is attached".to_owned() } else { parts.join("; ") }
}

#[cfg(test)]
mod tests {
    use unruffled_kernel::{AttachedCgroup, AttachedFilter, Everywhere, Growth};

    use super::*;

    /// 2026-11-28 17:40 UTC.
    const THEN: u64 = 1_795_887_600;

    fn control(growth: Growth) -> AttachedControl {
        let version = Some("0.1.0".to_owned());
        AttachedControl { growth, version, is_of_this_build: true, since: Some(THEN) }
    }

    fn namespace(inode: u64) -> AttachedNamespace {
        let growth = Some(Growth::Cubic);
        AttachedNamespace { inode, growth, former: Some("reno".to_owned()), since: Some(THEN) }
    }

    fn filter(namespace: u64, interface: u32, name: Option<&str>) -> AttachedFilter {
        let name = name.map(str::to_owned);
        AttachedFilter { namespace, interface, name, since: Some(THEN + u64::from(interface)) }
    }

    fn names() -> Names {
        let places = [(2, Place::Name("red".to_owned())), (3, Place::Process(77))];
        Names { own: 1, places: places.into() }
    }

    #[test]
    fn each_attachment_has_a_line_with_its_time() {
        let mut other = control(Growth::Bbr);
        other.is_of_this_build = false;
        let mut changed = namespace(2);
        changed.growth = None;
        let mut inherited = namespace(3);
        (inherited.former, inherited.since) = (None, None);
        let cgroup = AttachedCgroup {
            path: "/sys/fs/cgroup/a.slice".into(),
            growth: Growth::Bbr,
            since: THEN,
        };
        let attached = Attachments {
            controls: vec![control(Growth::Cubic), other],
            all: Some(Everywhere { growth: Growth::Cubic, process: Some(9), since: THEN }),
            namespaces: vec![namespace(1), changed, inherited],
            cgroups: vec![cgroup],
            filters: vec![filter(1, 2, Some("eth0")), filter(1, 3, None), filter(2, 2, Some("v0"))],
        };
        let expected = "\
kernel   unruffled 0.1.0, since 2026-11-28 17:40 UTC
kernel   unruffled_bbr 0.1.0, since 2026-11-28 17:40 UTC, another build than this command
all      unruffled for every network namespace, by process 9, also later ones, since 2026-11-28 17:40 UTC
default  unruffled in this network namespace, in place of reno, since 2026-11-28 17:40 UTC
default  another one now in red, in place of reno, since 2026-11-28 17:40 UTC
default  unruffled in pid 77, inherited, with timestamps
cgroup   unruffled_bbr for new connections of /sys/fs/cgroup/a.slice, since 2026-11-28 17:40 UTC
filters  no timestamps by eth0, interface 3 of this network namespace, since 2026-11-28 17:40 UTC
filters  no timestamps by v0 of red, since 2026-11-28 17:40 UTC
";
        assert_eq!(render(&attached, true, &names(), 200), expected);
        let narrow = render(&attached, true, &names(), 80);
        assert!(narrow.lines().all(|line| line.len() <= 80), "{narrow}");
        let brief = brief(&attached, true);
        let expected = "cubic in the kernel; bbr in the kernel; all namespaces, by process 9; \
            default of 3 namespaces; 1 cgroup; 3 interfaces without timestamps";
        assert_eq!(brief, expected);
    }

    #[test]
    fn many_namespaces_are_counted() {
        let namespaces: Vec<_> = (1..=513).map(namespace).collect();
        let attached = Attachments { namespaces, ..Attachments::default() };
        let text = render(&attached, true, &names(), 200);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert_eq!(lines[5], "default  of 509 other network namespaces");
        let five =
            Attachments { namespaces: (1..=5).map(namespace).collect(), ..Attachments::default() };
        assert_eq!(render(&five, false, &names(), 200).lines().count(), 5);
    }

    #[test]
    fn what_is_missing_is_said() {
        let nothing = Attachments::default();
        assert_eq!(render(&nothing, false, &names(), 80), "nothing is attached\n");
        let text = render(&nothing, true, &names(), 80);
        assert_eq!(text, "kernel   unruffled, until the end of a `run` or a `race`\n");
        let all = Some(Everywhere { growth: Growth::Cubic, process: None, since: THEN });
        let text = render(&Attachments { all, ..nothing }, false, &names(), 200);
        assert!(text.contains("the daemon has ended, so not later ones"), "{text}");
    }
}
