//! The exchange before the first message: TLS negotiation, cancel requests, the start-up packet.

use super::cancel::Backends;
use super::stream::Stream;
use super::tls::{PROTOCOL_NAME, TlsIdentity};
use crate::error::{ConnectionError, Result, protocol_violation};
use crate::protocol::reader::Reader;
use bytes::{Bytes, BytesMut};
use planner::{SqlError, state};
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The first byte of a TLS handshake. No packet starts with it, because its length would be some hundred million bytes.
const TLS_HANDSHAKE: u8 = 0x16;
const CANCEL_REQUEST: u32 = 80_877_102;
const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
/// Longest packet before authentication: PostgreSQL's MAX_STARTUP_PACKET_LENGTH.
const MAX_PACKET: usize = 10_000;
/// Newest supported protocol version: 3.2.
pub const NEWEST_PROTOCOL: u32 = 3 << 16 | 2;

/// The contents of a start-up packet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StartupPacket {
    /// Requested minor version of the protocol.
    pub minor: u16,
    /// Name of the role.
    pub user: String,
    /// Name of the database; the role's name if the client gave none.
    pub database: String,
    /// Settings from `options`, followed by the packet's own entries, which take precedence.
    pub settings: Vec<(String, String)>,
    /// Names of `_pq_.` options. The server knows none of them.
    pub unknown_options: Vec<String>,
}

/// Negotiates up to the start-up packet. `None` means that the connection is finished: it carried a cancel request, or
/// the client left.
pub async fn negotiate(
    socket: TcpStream,
    tls: Option<&TlsIdentity>,
    backends: &Backends,
) -> std::result::Result<Option<(Stream, StartupPacket)>, (Option<Stream>, ConnectionError)> {
    let mut first = [0];
    socket.peek(&mut first).await.map_err(|error| (None, error.into()))?;
    let direct = first == [TLS_HANDSHAKE];
    let mut stream = match (direct, tls) {
        (false, _) => Stream::Plain(socket),
        (true, Some(tls)) => accept_direct_tls(socket, tls).await.map_err(|error| (None, error))?,
        (true, None) => return Err((None, refused_direct("direct TLS connection, but TLS is not configured"))),
    };
    let mut asked = (direct, false);
    loop {
        let packet = match read_packet(&mut stream).await {
            Ok(Some(packet)) => packet,
            Ok(None) => return Ok(None),
            Err(error) => return Err((Some(stream), error)),
        };
        let mut body = Reader::new(packet);
        let code = match body.u32() {
            Ok(code) => code,
            Err(error) => return Err((Some(stream), ConnectionError::Fatal(error))),
        };
        match code {
            SSL_REQUEST if !asked.0 => {
                asked.0 = true;
                stream = match (stream, tls) {
                    (Stream::Plain(socket), Some(tls)) => accept_tls(socket, tls).await?,
                    (mut other, _) => {
                        refuse(&mut other).await.map_err(|e| (None, e))?;
                        other
                    }
                };
            }
            GSS_REQUEST if !asked.1 => {
                asked.1 = true;
                refuse(&mut stream).await.map_err(|e| (None, e))?;
            }
            CANCEL_REQUEST => {
                if let Ok(process) = body.i32() {
                    backends.cancel(process, &body.rest());
                }
                return Ok(None);
            }
            version => {
                return match parse(version, body) {
                    Ok(packet) => Ok(Some((stream, packet))),
                    Err(error) => Err((Some(stream), ConnectionError::Fatal(error))),
                };
            }
        }
    }
}

async fn accept_tls(
    mut socket: TcpStream,
    tls: &TlsIdentity,
) -> std::result::Result<Stream, (Option<Stream>, ConnectionError)> {
    // `read_packet` reads no byte past a packet. Bytes that an attacker sent in the clear behind the request therefore
    // reach the TLS handshake and fail there.
    let accepted = async {
        socket.write_all(b"S").await?;
        tls.acceptor.accept(socket).await
    };
    match accepted.await {
        Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
        Err(error) => Err((None, ConnectionError::Io(error))),
    }
}

/// TLS from the first byte on, as in PostgreSQL 17 (`sslnegotiation=direct`). The client must name the protocol by
/// ALPN, which prevents cross-protocol attacks.
async fn accept_direct_tls(socket: TcpStream, tls: &TlsIdentity) -> Result<Stream> {
    let stream = tls.acceptor.accept(socket).await?;
    if stream.get_ref().1.alpn_protocol() != Some(PROTOCOL_NAME) {
        let message = "direct TLS connection without ALPN protocol negotiation extension";
        return Err(refused_direct(message));
    }
    Ok(Stream::Tls(Box::new(stream)))
}

/// The client gets no error message, because it expects TLS records.
fn refused_direct(message: &str) -> ConnectionError {
    ConnectionError::Fatal(protocol_violation(format!("received {message}")))
}

async fn refuse(stream: &mut Stream) -> Result<()> {
    stream.write_all(b"N").await?;
    Ok(stream.flush().await?)
}

/// Reads one packet without a type byte. `None` means that the client left before it.
async fn read_packet(stream: &mut Stream) -> Result<Option<Bytes>> {
    let mut head = [0u8; 4];
    match stream.read_exact(&mut head).await {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let length = u32::from_be_bytes(head) as usize;
    if !(8..=MAX_PACKET).contains(&length) {
        return Err(ConnectionError::Fatal(protocol_violation("invalid length of startup packet")));
    }
    let mut body = BytesMut::zeroed(length - 4);
    stream.read_exact(&mut body).await?;
    Ok(Some(body.freeze()))
}

fn parse(version: u32, mut body: Reader) -> std::result::Result<StartupPacket, SqlError> {
    let (major, minor) = ((version >> 16) as u16, version as u16);
    if major != 3 {
        return Err(SqlError::new(
            state::FEATURE_NOT_SUPPORTED,
            format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.2"),
        ));
    }
    let mut packet = StartupPacket { minor, ..StartupPacket::default() };
    let mut options = String::new();
    loop {
        let name = body.string().map_err(|_| invalid_layout())?;
        if name.is_empty() {
            break;
        }
        let value = body.string()?;
        match name.as_str() {
            "user" => packet.user = value,
            "database" => packet.database = value,
            "options" => options = value,
            "replication" => {
                if !matches!(value.as_str(), "false" | "off" | "no" | "0") {
                    return Err(SqlError::unsupported("the replication protocol"));
                }
            }
            _ if name.starts_with("_pq_.") => packet.unknown_options.push(name),
            _ => packet.settings.push((name, value)),
        }
    }
    body.end().map_err(|_| invalid_layout())?;
    if packet.user.is_empty() {
        return Err(SqlError::new(state::INVALID_AUTHORIZATION, "no PostgreSQL user name specified in startup packet"));
    }
    if packet.database.is_empty() {
        packet.database.clone_from(&packet.user);
    }
    let own = std::mem::replace(&mut packet.settings, parse_options(&options)?);
    packet.settings.extend(own);
    Ok(packet)
}

fn invalid_layout() -> SqlError {
    protocol_violation("invalid startup packet layout: expected terminator as last byte")
}

/// Splits `options` like a postgres command line: `-c name=value`, `-cname=value`, `--name=value`. A backslash keeps
/// the space after it.
fn parse_options(text: &str) -> std::result::Result<Vec<(String, String)>, SqlError> {
    let mut words = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            if let (Some(next), Some(word)) = (characters.next(), words.last_mut()) {
                word.push(next);
            }
        } else if character.is_whitespace() {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(character);
        }
    }
    let mut words = words.into_iter().filter(|word| !word.is_empty());
    let mut settings = Vec::new();
    while let Some(word) = words.next() {
        let setting = if word == "-c" {
            words.next()
        } else {
            word.strip_prefix("-c").or_else(|| word.strip_prefix("--")).map(str::to_string)
        };
        match setting.as_deref().and_then(|setting| setting.split_once('=')) {
            Some((name, value)) => settings.push((name.replace('-', "_"), value.to_string())),
            None => {
                return Err(SqlError::new(
                    state::SYNTAX_ERROR,
                    format!("invalid command-line argument for server process: {word}"),
                ));
            }
        }
    }
    Ok(settings)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn packet(body: &'static [u8]) -> std::result::Result<StartupPacket, SqlError> {
        parse(NEWEST_PROTOCOL, Reader::new(Bytes::from_static(body)))
    }

    #[test]
    fn the_database_defaults_to_the_user_and_options_become_settings() {
        let packet =
            packet(b"user\0ann\0application_name\0x\0options\0-c a=1 --b-c=two\\ words\0_pq_.new\0on\0\0").unwrap();
        assert_eq!((packet.user.as_str(), packet.database.as_str()), ("ann", "ann"));
        let settings: Vec<_> = packet.settings.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(settings, [("a", "1"), ("b_c", "two words"), ("application_name", "x")]);
        assert_eq!(packet.unknown_options, ["_pq_.new"]);
    }

    #[test]
    fn bad_packets_are_refused() {
        assert_eq!(packet(b"\0").unwrap_err().state(), "28000");
        assert_eq!(packet(b"user\0ann\0").unwrap_err().state(), "08P01");
        assert_eq!(packet(b"user\0ann").unwrap_err().state(), "08P01");
        assert_eq!(packet(b"user\0ann\0\0x").unwrap_err().state(), "08P01");
        assert_eq!(packet(b"user\0ann\0replication\0database\0\0").unwrap_err().state(), "0A000");
        assert_eq!(packet(b"user\0ann\0options\0-x\0\0").unwrap_err().state(), "42601");
        assert_eq!(parse(2 << 16, Reader::new(Bytes::new())).unwrap_err().state(), "0A000");
    }
}
