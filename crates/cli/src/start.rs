//! The first steps, which `unruffled` prints without arguments.

/// The first commands, each with what it shows.
#[cfg(target_os = "linux")]
const STEPS: &str = "
First steps:
  unruffled compare                what late packets do to today's Linux, and to
                                   others: a table and a report, in seconds
  unruffled analyze slow.pcap      what slowed the connections of a capture
  sudo unruffled race              real packets: this machine's kernel and us
  sudo unruffled attach --default  our sender for every program here, until
                                   `sudo unruffled detach`
";

#[cfg(not(target_os = "linux"))]
const STEPS: &str = "
First steps:
  unruffled compare                what late packets do to today's Linux, and to
                                   others: a table and a report, in seconds
  unruffled analyze slow.pcap      what slowed the connections of a capture
";

/// Returns the text, without a line feed at its end.
pub(crate) fn text() -> String {
    format!(
        "unruffled {}: TCP that keeps its speed when the network shuffles packets\n{STEPS}\n\
         All commands: unruffled --help",
        env!("CARGO_PKG_VERSION")
    )
}
