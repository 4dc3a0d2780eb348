//! `http.get` against servers that mean ill.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod attacks_address;
mod attacks_answer;
mod attacks_cache;
mod attacks_cache_file;
mod attacks_http;
mod attacks_redirect;
mod attacks_tls;
mod world;
