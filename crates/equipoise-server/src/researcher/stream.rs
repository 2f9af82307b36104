//! Replies that are written while they are sent: a report of ten thousand people is some hundred megabytes, of which a few are in
//! memory at a time.

use axum::body::{Body, Bytes};
use hyper::body::Frame;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// So much is sent at once, and so many of these wait to be sent.
const PIECE: usize = 256 << 10;
const AHEAD: usize = 2;
/// Whoever takes nothing for so long has gone.
const GONE: Duration = Duration::from_secs(60);

/// A reply that `write` writes, on a thread of its own, as fast as it is taken. Within a runtime.
pub fn written(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()> + Send + 'static) -> Body {
    let (tell, told) = channel(AHEAD);
    let handle = Handle::current();
    handle.clone().spawn_blocking(move || {
        let mut pieces = Pieces { kept: Vec::with_capacity(PIECE), tell, handle };
        let done = write(&mut pieces).and_then(|()| pieces.pass());
        if let Err(error) = done {
            // Half a page must not look like a whole one; whoever has gone does not see it.
            let _ = pieces.tell.try_send(Err(error));
        }
    });
    Body::new(Told(told))
}

struct Pieces {
    kept: Vec<u8>,
    tell: Sender<io::Result<Bytes>>,
    handle: Handle,
}

impl Pieces {
    fn pass(&mut self) -> io::Result<()> {
        let piece = Bytes::from(std::mem::replace(&mut self.kept, Vec::with_capacity(PIECE)));
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.handle.block_on(self.tell.send_timeout(Ok(piece), GONE)).map_err(|_| gone())
    }
}

impl io::Write for Pieces {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.kept.extend_from_slice(text);
        if self.kept.len() >= PIECE {
            self.pass()?;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is told, as the body of a reply.
struct Told(Receiver<io::Result<Bytes>>);

impl hyper::body::Body for Told {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn what_is_written_is_sent_and_no_more_is_kept_than_is_taken() {
        let begun = Arc::new(AtomicUsize::new(0));
        let count = begun.clone();
        let body = written(move |out| {
            for _ in 0..1_000 {
                count.fetch_add(1, Ordering::SeqCst);
                out.write_all(&[b'x'; 100_000])?;
            }
            Ok(())
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        let ahead = begun.load(Ordering::SeqCst);
        assert!(ahead <= 20, "{ahead} pieces of 100 kB were made before anybody took one");
        assert_eq!(body.collect().await.unwrap().to_bytes().len(), 100_000_000);
    }

    #[tokio::test]
    async fn whoever_goes_ends_it_and_what_fails_is_no_whole_page() {
        let (tell, told) = std::sync::mpsc::channel();
        let body = written(move |out| {
            let ended = (0..100_000).try_for_each(|_| out.write_all(&[b'x'; 100_000]));
            tell.send(ended.is_err()).unwrap();
            ended
        });
        drop(body);
        assert!(told.recv_timeout(Duration::from_secs(20)).unwrap(), "nobody is there to send it to");
        let broken = written(|out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(broken.collect().await.is_err());
    }
}
