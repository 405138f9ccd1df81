//! Integration tests of links.

mod link;
mod resend;
