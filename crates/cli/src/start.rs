//! The first steps, which `unruffled` prints without arguments.

/// The first commands, each with what it shows.
#[cfg(target_os = "linux")]
const STEPS: &str = "
First steps:
  unruffled compare                what late packets do to today's Linux, and to
                                   others: a table and a report, in seconds
  unruffled analyze slow.pcap      what slowed the connections of a capture
  sudo unruffled race              real packets: this machine's kernel and us
  sudo unruffled doctor            does reordering slow this machine? (30 s)
  sudo unruffled attach --default  for what this machine sends: our sender for
                                   every program, until `sudo unruffled detach`
  sudo unruffled resequence        for what this machine receives: packets in
                                   order again, from any sender, until Ctrl-C
";

#[cfg(not(target_os = "linux"))]
const STEPS: &str = "
First steps:
  unruffled compare                what late packets do to today's Linux, and to
                                   others: a table and a report, in seconds
  unruffled analyze slow.pcap      what slowed the connections of a capture
";

/// What a build without the feature `full` adds.
const PART: &str = "\nThis build has some of them. All: make build";

/// Returns the text, without a line feed at its end.
pub(crate) fn text() -> String {
    format!(
        "unruffled {}: TCP that keeps its speed when the network shuffles packets\n{STEPS}\n\
         All commands: unruffled --help{}",
        env!("CARGO_PKG_VERSION"),
        if cfg!(feature = "full") { "" } else { PART }
    )
}
