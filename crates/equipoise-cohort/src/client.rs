//! As much of a browser as simulated people need: a connection, a cookie, forms.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, CONTENT_TYPE, COOKIE, HOST, HeaderValue, LOCATION, SET_COOKIE};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;

/// A reply.
#[derive(Debug)]
pub struct Response {
    /// Its status.
    pub status: StatusCode,
    /// Where it leads, if it does.
    pub location: Option<String>,
    /// Its body as text.
    pub body: String,
}

/// A connection to a server, with its cookie: as much of a browser as the simulation needs.
#[derive(Debug)]
pub struct Client {
    /// Every server there is; requests go to each in turn.
    servers: Vec<Server>,
    at: usize,
    /// Name and value of each.
    cookies: BTreeMap<String, String>,
    tries: usize,
}

/// A server, and the connection to it if there is one.
#[derive(Debug)]
struct Server {
    address: SocketAddr,
    sender: Option<SendRequest<Full<Bytes>>>,
}

/// How long it waits before it tries again.
const PAUSE: Duration = Duration::from_millis(20);

/// After this a reply is not waited for any longer, where something is tried again.
const TOO_LONG: Duration = Duration::from_secs(2);

impl Client {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        Self::patient(address, 1).await
    }

    /// Connects as somebody who has a cookie already.
    pub async fn with_cookie(address: SocketAddr, cookie: String) -> io::Result<Self> {
        let mut client = Self::connect(address).await?;
        client.keep(&cookie);
        Ok(client)
    }

    /// Connects, and sends whatever fails again on a new connection, as the pages' script does: at most so many times.
    pub async fn patient(address: SocketAddr, tries: usize) -> io::Result<Self> {
        let mut opened = open(address).await;
        for _ in 1..tries {
            if opened.is_err() {
                tokio::time::sleep(PAUSE).await;
                opened = open(address).await;
            }
        }
        let servers = vec![Server { address, sender: Some(opened?) }];
        Ok(Self { servers, at: 0, cookies: BTreeMap::new(), tries })
    }

    /// Sends every request to another one of several servers than the last, and to the next one if that fails.
    pub fn among(addresses: &[SocketAddr], tries: usize) -> Self {
        let servers = addresses.iter().map(|address| Server { address: *address, sender: None }).collect();
        Self { servers, at: 0, cookies: BTreeMap::new(), tries }
    }

    fn keep(&mut self, set: &str) {
        if let Some((name, value)) = set.split(';').next().and_then(|pair| pair.split_once('=')) {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Asks for a page.
    pub async fn get(&mut self, path: &str) -> io::Result<Response> {
        self.send(Method::GET, path, String::new(), "text/html").await
    }

    /// Sends a form as the script does, asking for JSON.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> io::Result<Response> {
        let pairs = fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        self.send(Method::POST, path, pairs.collect::<Vec<_>>().join("&"), "application/json").await
    }

    async fn send(&mut self, method: Method, path: &str, body: String, accept: &str) -> io::Result<Response> {
        self.at = (self.at + 1) % self.servers.len();
        for _ in 1..self.tries {
            let once = self.send_once(method.clone(), path, body.clone(), accept);
            match tokio::time::timeout(TOO_LONG, once).await {
                Ok(Ok(response)) if !response.status.is_server_error() => return Ok(response),
                _ => {
                    tokio::time::sleep(PAUSE).await;
                    self.servers[self.at].sender = None;
                    self.at = (self.at + 1) % self.servers.len();
                }
            }
        }
        self.send_once(method, path, body, accept).await
    }

    async fn send_once(
        &mut self,
        method: Method,
        path: &str,
        body: String,
        accept: &str,
    ) -> io::Result<Response> {
        let server = &mut self.servers[self.at];
        let sender = match &mut server.sender {
            Some(sender) => sender,
            none => none.insert(open(server.address).await?),
        };
        let address = server.address;
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, address.to_string())
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if !cookies.is_empty() {
            request = request.header(COOKIE, cookies.join("; "));
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(io::Error::other)?;
        sender.ready().await.map_err(io::Error::other)?;
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        let status = response.status();
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
        for set in response.headers().get_all(SET_COOKIE).iter().filter_map(text) {
            self.keep(&set);
        }
        let location = response.headers().get(LOCATION).and_then(text);
        let body = response.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
        Ok(Response { status, location, body: String::from_utf8_lossy(&body).into_owned() })
    }
}

async fn open(address: SocketAddr) -> io::Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_written_so_that_any_text_survives() {
        assert_eq!(encoded("a b&c=é"), "a%20b%26c%3D%C3%A9");
    }
}
