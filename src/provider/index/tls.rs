//! The stream to a PostgreSQL server: by TLS, and never longer than an answer may be.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use super::super::profile::Profile;
use crate::files;

/// A stream of which only so many bytes are read.
pub struct Bounded<S> {
    pub inner: S,
    pub left: usize,
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        let came = buf.filled().len().saturating_sub(before);
        match self.left.checked_sub(came) {
            Some(left) => self.left = left,
            None => return Poll::Ready(Err(io::Error::other(TOO_LONG))),
        }
        read
    }
}

/// The cause of an answer that is too long.
pub const TOO_LONG: &str = "the answer is too long";

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// Begins TLS with a host whose certificate is checked.
pub struct Tls {
    config: Arc<ClientConfig>,
    host: ServerName<'static>,
}

impl Tls {
    /// With the certificates that the system trusts, and those of the profile.
    ///
    /// # Errors
    /// When the host has no name, or the file of certificates is wrong.
    pub fn of(profile: &Profile, host: &str) -> Result<Self, String> {
        let provider = Arc::new(ring::default_provider());
        let mut roots: Vec<CertificateDer<'static>> = Vec::new();
        if let Some(file) = &profile.wire.ca_file {
            let wrong = |why: String| format!("{}: {why}", file.display());
            let pem = files::read(file, files::SETTINGS).map_err(|it| wrong(it.to_string()))?;
            for one in CertificateDer::pem_slice_iter(&pem) {
                roots.push(one.map_err(|error| wrong(error.to_string()))?);
            }
            if roots.is_empty() {
                return Err(wrong("no certificate is in it".to_owned()));
            }
        }
        let words = |error: rustls::Error| error.to_string();
        let verifier = match roots.is_empty() {
            true => Verifier::new(Arc::clone(&provider)),
            false => Verifier::new_with_extra_roots(roots, Arc::clone(&provider)),
        };
        let verifier = Arc::new(verifier.map_err(words)?);
        let config = ClientConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().map_err(words)?;
        let config = config.dangerous().with_custom_certificate_verifier(verifier);
        let host = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        Ok(Self { config: Arc::new(config.with_no_client_auth()), host })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let connect = TlsConnector::from(self.config).connect(self.host, stream);
        let left = usize::MAX;
        Box::pin(async move { connect.await.map(|inner| Bounded { inner, left }) })
    }
}

/// A stream inside of TLS; what is bounded is the one around it.
type Encrypted<S> = Bounded<tokio_rustls::client::TlsStream<S>>;

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}
