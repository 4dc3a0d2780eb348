//! What of the network is used: names are looked up, and connections made to addresses.
//! Owns: the trait, and the machine's own. Must not: choose an address, or check one.

use countersign_runtime::ports::Answer;
use std::io;
use std::net::{IpAddr, SocketAddr};
use tokio::net::TcpStream;

/// A network. Whoever uses it checks the addresses that a name has and connects to one of these: a name is never looked
/// up twice for one connection.
pub trait Network: Send + Sync {
    /// The addresses of a name.
    fn addresses_of<'a>(&'a self, name: &'a str) -> Answer<'a, io::Result<Vec<IpAddr>>>;

    /// A connection to this address and no other.
    fn connect(&self, address: SocketAddr) -> Answer<'_, io::Result<TcpStream>>;
}

/// The machine's own network. It knows no proxy, whatever the environment says: a proxy would look up names itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Network for Machine {
    fn addresses_of<'a>(&'a self, name: &'a str) -> Answer<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn connect(&self, address: SocketAddr) -> Answer<'_, io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(address))
    }
}
