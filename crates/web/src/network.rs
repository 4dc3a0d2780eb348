//! What of the network is used: names are looked up, and connections made to addresses.
//! Owns: the trait, and the machine's own. Must not: choose an address, or check one.

use countersign_runtime::ports::Answer;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::thread;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, oneshot};

/// Names that are looked up at the same time. The system's own function can't be cancelled: one whose call has ended
/// still counts until the system gives up.
const LOOKUPS_MAX: usize = 64;
static LOOKUPS: Semaphore = Semaphore::const_new(LOOKUPS_MAX);

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
            let permit = LOOKUPS.acquire().await.map_err(io::Error::other)?;
            let (tell, told) = oneshot::channel();
            let name = name.to_owned();
            // Not in the runtime's pool: a name server that says nothing would hold up others there, and the end of the
            // process.
            thread::Builder::new().name("lookup".to_owned()).spawn(move || {
                let found = (name.as_str(), 0).to_socket_addrs();
                drop(tell.send(found.map(|found| found.map(|address| address.ip()).collect())));
                drop(permit);
            })?;
            told.await.map_err(io::Error::other)?
        })
    }

    fn connect(&self, address: SocketAddr) -> Answer<'_, io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(address))
    }
}
