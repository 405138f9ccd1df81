//! Integration tests of the engine, in one binary: packet traces of senders (`trace`) and of whole
//! connections (`wire`), and properties over random inputs.
//!
//! Tests that measure the memory of their process are binaries of their own.

mod acceptance;
mod anything;
mod avg_dev;
mod blanton_allman;
mod connection;
mod cubic;
mod dcr;
mod descriptions;
mod dice;
mod dsack;
mod ecn;
mod ecn_response;
mod first_copy;
mod flow_control;
mod growth;
mod linux_reordering;
mod lying_receiver;
mod moderation;
mod ncr;
mod newreno;
mod own_detector;
mod pacing;
mod passive;
mod path_mtu;
mod prr;
mod quic;
mod quic_stacks;
mod rack;
mod reneging_receiver;
mod restart;
mod rr;
mod sack;
mod settings;
mod spurious;
mod states;
mod tail_loss_probe;
mod tcp_pr;
mod td_fr;
mod time_wait;
mod timer;
mod too_big;
mod trace;
mod two_ends;
mod unreachable;
mod unruffled;
mod user_space;
mod wire;
mod without_sack;
