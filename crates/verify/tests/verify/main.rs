//! Packets of whole runs: sound ones verify, and every way of changing one is found and named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod beginnings;
mod book;
mod decided;
mod forged;
mod forgeries;
mod handoffs;
mod histories;
mod invented;
mod pages;
mod requests;
mod revising;
mod scenes;
mod sound;
mod stage;
mod tampered;
