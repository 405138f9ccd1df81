use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use saphyr::{LoadableYamlNode as _, Yaml};
use serde_json::Value;
use unruffled_kernel::{AttachedCgroup, AttachedFilter, AttachedNamespace, Everywhere};

use super::super::row::example;
use super::*;

fn file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn attachments() -> Attachments {
    let namespace = |inode, growth| AttachedNamespace {
        inode,
        growth,
        former: Some("cubic".to_owned()),
        since: None,
    };
    Attachments {
        controls: Vec::new(),
        all: Some(Everywhere { growth: Growth::Cubic, process: None, since: 0 }),
        namespaces: vec![
            namespace(1, Some(Growth::Cubic)),
            namespace(2, Some(Growth::Cubic)),
            namespace(3, None),
        ],
        cgroups: vec![AttachedCgroup { path: "/a".into(), growth: Growth::Bbr, since: 0 }],
        filters: vec![AttachedFilter { namespace: 1, interface: 2, name: None, since: None }],
    }
}

fn totals(registration: u32, growth: Growth, first: u64) -> Totals {
    Totals {
        registration,
        growth,
        connections: first,
        events: first + 1,
        spurious: first + 2,
        restored: first + 3,
        timeouts: first + 4,
        retransmissions: first + 5,
        acked: first + 6,
    }
}

/// Two connections of 2 Mb/s in the own namespace, and one of BBR in a namespace with a strange name.
fn rows() -> Vec<Row> {
    let mut late = example("192.0.2.1:1");
    (late.connection.late, late.connection.held) = (Duration::from_millis(1500), 7);
    let mut subflow = example("192.0.2.1:2");
    (subflow.connection.is_mptcp, subflow.connection.held) = (true, 2);
    let mut other = example("192.0.2.1:3");
    (other.connection.growth, other.connection.namespace) = (Growth::Bbr, 5);
    other.namespace_name = Some("a\"b\\c".to_owned());
    other.is_reachable = false;
    let mut of_process = example("192.0.2.1:4");
    (of_process.connection.namespace, of_process.connection.rate_bps) = (6, 0.0);
    of_process.namespace_name = Some("pid 77".to_owned());
    vec![late, subflow, other, of_process]
}

fn text() -> String {
    let totals = vec![totals(31, Growth::Cubic, 100), totals(90, Growth::Bbr, u64::from(u32::MAX))];
    let status = Status { totals, others: 4, ..Status::default() };
    let attached = attachments();
    let state = State { attached: &attached, status: &status, registered: &[Growth::Cubic] };
    render(&state, &rows())
}

/// `python/tests/test_metrics.py` parses the file. `UNRUFFLED_WRITE_METRICS=1` writes it.
#[test]
fn the_text_is_that_of_the_example() {
    let path = "src/kernel/status/openmetrics/example.txt";
    if std::env::var_os("UNRUFFLED_WRITE_METRICS").is_some() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
        fs::write(path, text()).expect("it is writable");
    }
    assert_eq!(text(), file(path));
}

#[test]
fn figures_are_summed_by_network_namespace() {
    let text = text();
    let has = |line: &str| assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    let own = "namespace=\"net:[4026531840]\",growth=\"cubic\"";
    has(&format!("unruffled_connections{{{own}}} 2"));
    has(&format!("unruffled_late_connections{{{own}}} 1"));
    has(&format!("unruffled_mptcp_subflows{{{own}}} 1"));
    has(&format!("unruffled_held_segments{{{own}}} 9"));
    has(&format!("unruffled_lateness_seconds{{{own}}} 1.5"));
    has(&format!("unruffled_acknowledged_bytes_per_second{{{own}}} 500000"));
    has("unruffled_connections{namespace=\"a\\\"b\\\\c\",growth=\"bbr\"} 1");
    has("unruffled_connections{namespace=\"net:[6]\",growth=\"cubic\"} 1");
    has("unruffled_unreachable_connections 1");
    has("unruffled_daemon_running 0");
    has("unruffled_attached_namespaces{growth=\"cubic\"} 2");
    has("unruffled_acknowledged_bytes_total{registration=\"31\",growth=\"cubic\"} 106");
    has("unruffled_started_connections_total{registration=\"90\",growth=\"bbr\"} 4294967295");
    assert!(text.ends_with("\n# EOF\n"));
}

#[test]
fn without_attachments_and_connections_the_text_is_complete() {
    let (attached, status) = (Attachments::default(), Status::default());
    let text = render(&State { attached: &attached, status: &status, registered: &[] }, &[]);
    assert!(text.contains("unruffled_registered{growth=\"bbr\"} 0\n"), "{text}");
    assert!(text.contains("unruffled_attached_namespaces{growth=\"cubic\"} 0\n"), "{text}");
    assert!(!text.contains("daemon_running") && !text.contains("_total"), "{text}");
    assert!(text.ends_with("\n# EOF\n"));
}

/// Returns the names of metrics of unruffled in a query.
fn metrics(query: &str) -> BTreeSet<String> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("unruffled_")).map(str::to_owned).collect()
}

/// Returns all values of the key `expr`.
fn queries_of(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("expr").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(queries_of)).collect()
        }
        Value::Array(items) => items.iter().flat_map(queries_of).collect(),
        _ => Vec::new(),
    }
}

fn assert_exported(queries: &[String]) {
    let exported: BTreeSet<String> = names().into_iter().collect();
    for query in queries {
        let used = metrics(query);
        assert!(!used.is_empty(), "no metric: {query}");
        let unknown: Vec<_> = used.difference(&exported).collect();
        assert!(unknown.is_empty(), "{unknown:?} are not exported: {query}");
    }
}

#[test]
fn the_dashboard_uses_exported_metrics() {
    let dashboard: Value =
        serde_json::from_str(&file("../../docs/monitoring/dashboard.json")).expect("JSON");
    let queries = queries_of(&dashboard);
    assert!(queries.len() >= 8, "{queries:?}");
    assert_exported(&queries);
    let panels = dashboard["panels"].as_array().expect("a list");
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has a number of its own");
}

#[test]
fn the_alerts_use_exported_metrics() {
    let text = file("../../docs/monitoring/alerts.yaml");
    let documents = Yaml::load_from_str(&text).expect("YAML");
    assert_eq!(documents.len(), 1);
    let groups = documents[0]["groups"].as_sequence().expect("a list");
    let rules = groups.iter().flat_map(|group| group["rules"].as_sequence().expect("a list"));
    let rules: Vec<_> = rules.collect();
    let text = |value: &Yaml<'_>| value.as_str().expect("a text").to_owned();
    let queries: Vec<_> = rules.iter().map(|rule| text(&rule["expr"])).collect();
    assert!(queries.len() >= 4, "{queries:?}");
    assert_exported(&queries);
    let names: BTreeSet<_> = rules.iter().map(|rule| text(&rule["alert"])).collect();
    assert_eq!(names.len(), rules.len(), "each alert has a name of its own");
    for rule in &rules {
        assert!(!text(&rule["annotations"]["summary"]).is_empty());
    }
}

/// A metric without a dashboard is no fault; docs/guide/monitoring.md lists all of them.
#[test]
fn the_documentation_lists_each_metric() {
    let text = file("../../docs/guide/monitoring.md");
    for name in names() {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn a_query_has_the_names_of_its_metrics() {
    let query = "sum by (growth) (rate(unruffled_timeouts_total[5m])) / unruffled_connections";
    let expected = ["unruffled_connections", "unruffled_timeouts_total"];
    assert_eq!(metrics(query), expected.map(str::to_owned).into());
}
