//! Integration tests of links.

mod link;
mod marks;
mod resend;
