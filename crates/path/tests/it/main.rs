//! Integration tests of links.

mod exit;
mod fragments;
mod link;
mod marks;
mod resend;
