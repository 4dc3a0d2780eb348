//! `countersign serve`: the commands about runs, over HTTP.
//! Owns: what is printed when the server begins. Must not: answer a request.

use super::token;
use crate::cli::Global;
use crate::cli::serve::Serve;
use crate::failure::{Exit, Failure};
use crate::http::{self, Server, listen};
use crate::output;
use crate::pipelines;
use crate::signals::Signals;
use crate::tokens::{Secret, Token, Tokens};
use countersign_record::access::Role;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

#[derive(Serialize)]
struct Began<'a> {
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
}

pub(super) async fn run(global: &Global, serve: &Serve) -> Result<Exit, Failure> {
    if serve.openapi {
        output::bytes(http::description()?.as_bytes())?;
        return Ok(Exit::Success);
    }
    // What can't work is told now, and not to the first who asks.
    pipelines::find(&serve.working.pipeline)?;
    let signals = Signals::new()?;
    let (listener, address) = listen::bind(serve.listen).await?;
    let timeout = Duration::from_secs(serve.timeout);
    let server = Arc::new(Server::new(global, &serve.working, timeout, address)?);
    server.model(&serve.working.model)?;
    let tokens = Tokens::of(&global.data);
    let first = tokens.first(token::wanted(global, &global.principal, Role::Admin)?)?;
    // A file of tokens that can't be used would refuse everybody.
    tokens.list()?;
    if !address.ip().is_loopback() {
        output::aside(
            "warning: others on the network can reach this address, and tokens and documents travel unencrypted",
        );
    }
    began(global, &format!("http://{address}"), first.as_ref())?;
    listen::serve(server, listener, signals).await;
    Ok(Exit::Success)
}

fn began(global: &Global, address: &str, first: Option<&(Token, Secret)>) -> Result<(), Failure> {
    if global.json {
        let token = first.map(|(_, secret)| secret.expose());
        return output::json(&Began { address: address.to_owned(), token });
    }
    output::aside(&format!("listening on {address}"));
    if let Some((token, secret)) = first {
        let Token { principal, matter, role, .. } = token;
        output::aside(&format!("token of {principal}, {role} in {matter}, shown this once:"));
        output::aside(secret.expose());
    }
    Ok(())
}
