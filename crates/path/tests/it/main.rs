//! Integration tests of links.

mod exit;
mod link;
mod marks;
mod resend;
