//! [`Raw`]: a client that sends arbitrary bytes, valid or not, and reads messages.

use crate::server::Server;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A message of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Type byte of the message.
    pub kind: u8,
    /// The bytes after the length.
    pub body: Vec<u8>,
}

impl Reply {
    /// A field of an ErrorResponse or NoticeResponse: `C` is the SQLSTATE, `M` the message, `S` the severity.
    pub fn field(&self, code: u8) -> Option<String> {
        self.body.split(|byte| *byte == 0).find_map(|field| match field.split_first() {
            Some((first, rest)) if *first == code => Some(String::from_utf8_lossy(rest).into_owned()),
            _ => None,
        })
    }
}

/// A connection that need not follow the protocol.
pub struct Raw {
    stream: TcpStream,
    /// Process number and secret from BackendKeyData.
    pub key: (i32, Vec<u8>),
    /// ParameterStatus messages of the start-up.
    pub parameters: Vec<(String, String)>,
}

impl Raw {
    /// Opens a socket without a start-up packet.
    pub fn open(server: &Server) -> Raw {
        Self::open_port(server.port())
    }

    /// Like [`Raw::open`], for any server on a port.
    pub fn open_port(port: u16) -> Raw {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket option");
        stream.set_nodelay(true).expect("a socket option");
        Raw { stream, key: (0, Vec::new()), parameters: Vec::new() }
    }

    /// Connects as `postgres` with protocol 3.0.
    pub fn connect(server: &Server) -> Raw {
        Self::connect_port(server.port())
    }

    /// Like [`Raw::connect`], for any server on a port.
    pub fn connect_port(port: u16) -> Raw {
        let mut raw = Raw::open_port(port);
        raw.packet(3 << 16, b"user\0postgres\0database\0postgres\0\0");
        for reply in raw.until_ready() {
            match reply.kind {
                b'K' => {
                    let process = i32::from_be_bytes(reply.body[..4].try_into().expect("four bytes"));
                    raw.key = (process, reply.body[4..].to_vec());
                }
                b'S' => {
                    let words: Vec<_> =
                        reply.body.split(|b| *b == 0).map(|w| String::from_utf8_lossy(w).into_owned()).collect();
                    raw.parameters.push((words[0].clone(), words[1].clone()));
                }
                b'E' => panic!("refused: {reply:?}"),
                _ => {}
            }
        }
        raw
    }

    /// Connects with the given settings, names and values alternating. `None` if the server refuses.
    pub fn try_connect_with(port: u16, settings: &[&str]) -> Option<Raw> {
        let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_nodelay(true).ok()?;
        let mut raw = Raw { stream, key: (0, Vec::new()), parameters: Vec::new() };
        raw.patience(Duration::from_secs(30));
        raw.packet(3 << 16, format!("{}\0\0", settings.join("\0")).as_bytes());
        raw.try_until_ready().filter(|replies| replies.iter().all(|reply| reply.kind != b'E')).map(|_| raw)
    }

    /// Sends a simple query and reads all replies. `None` if the server stops answering or closes the connection. A
    /// COPY from the client gets no rows.
    pub fn try_query(&mut self, sql: &str) -> Option<Vec<Reply>> {
        self.send(b'Q', &[sql.as_bytes(), b"\0"].concat());
        self.try_until_ready()
    }

    fn try_until_ready(&mut self) -> Option<Vec<Reply>> {
        let mut replies = Vec::new();
        loop {
            let mut head = [0u8; 5];
            self.stream.read_exact(&mut head).ok()?;
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let mut body = vec![0; length.checked_sub(4)?];
            self.stream.read_exact(&mut body).ok()?;
            replies.push(Reply { kind: head[0], body });
            match head[0] {
                b'Z' => return Some(replies),
                b'G' => self.send(b'c', b""),
                _ => {}
            }
        }
    }

    /// Sets the time limit of a reply.
    pub fn patience(&mut self, limit: Duration) {
        self.stream.set_read_timeout(Some(limit)).expect("a socket option");
    }

    /// Sends bytes unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // The server may have closed the socket already. Only its replies count.
        let _ = self.stream.write_all(bytes);
    }

    /// Sends a packet without a type byte, such as a start-up packet.
    pub fn packet(&mut self, code: u32, body: &[u8]) {
        let length = u32::try_from(body.len() + 8).expect("a small packet");
        self.bytes(&[&length.to_be_bytes()[..], &code.to_be_bytes(), body].concat());
    }

    /// Sends a message with its type byte and length.
    pub fn send(&mut self, kind: u8, body: &[u8]) {
        self.bytes(&message(kind, body));
    }

    /// Sends a simple query and reads all replies.
    pub fn query(&mut self, sql: &str) -> Vec<Reply> {
        self.send(b'Q', &[sql.as_bytes(), b"\0"].concat());
        self.until_ready()
    }

    /// Sends a Sync and reads the replies up to its ReadyForQuery.
    pub fn sync(&mut self) -> Vec<Reply> {
        self.send(b'S', b"");
        self.until_ready()
    }

    /// Reads the next message. `None` if the server closed the connection.
    pub fn reply(&mut self) -> Option<Reply> {
        let mut head = [0u8; 5];
        if let Err(error) = self.stream.read_exact(&mut head) {
            assert!(!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "the server is silent");
            return None;
        }
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length.checked_sub(4).expect("a length of at least four")];
        self.stream.read_exact(&mut body).expect("a whole message");
        Some(Reply { kind: head[0], body })
    }

    /// Reads one byte, the answer to a request for encryption.
    pub fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).expect("a byte");
        byte[0]
    }

    /// Reads messages up to ReadyForQuery, or up to the end of the connection.
    pub fn until_ready(&mut self) -> Vec<Reply> {
        let mut replies = Vec::new();
        while let Some(reply) = self.reply() {
            let last = reply.kind == b'Z';
            replies.push(reply);
            if last {
                break;
            }
        }
        replies
    }
}

/// Encodes a message with type byte and length.
pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("a small message");
    [&[kind][..], &length.to_be_bytes(), body].concat()
}

/// Encodes a Parse without parameter types.
pub fn parse(name: &str, sql: &str) -> Vec<u8> {
    message(b'P', &[name.as_bytes(), b"\0", sql.as_bytes(), b"\0\0\0"].concat())
}

/// Encodes a Bind without parameters and with text results.
pub fn bind(portal: &str, statement: &str) -> Vec<u8> {
    message(b'B', &[portal.as_bytes(), b"\0", statement.as_bytes(), b"\0\0\0\0\0\0\0"].concat())
}

/// Encodes a Describe. `target` is `S` or `P`.
pub fn describe(target: u8, name: &str) -> Vec<u8> {
    message(b'D', &[&[target], name.as_bytes(), b"\0"].concat())
}

/// Encodes a Close. `target` is `S` or `P`.
pub fn close(target: u8, name: &str) -> Vec<u8> {
    message(b'C', &[&[target], name.as_bytes(), b"\0"].concat())
}

/// Encodes an Execute with a row limit; 0 means no limit.
pub fn execute(portal: &str, max_rows: i32) -> Vec<u8> {
    message(b'E', &[portal.as_bytes(), b"\0", &max_rows.to_be_bytes()].concat())
}

/// The type bytes of the replies as text, such as `"12DCZ"`.
pub fn kinds(replies: &[Reply]) -> String {
    replies.iter().map(|reply| char::from(reply.kind)).collect()
}

/// The SQLSTATE of the only error among the replies.
#[track_caller]
pub fn error_state(replies: &[Reply]) -> String {
    let errors: Vec<_> = replies.iter().filter(|reply| reply.kind == b'E').collect();
    assert_eq!(errors.len(), 1, "one error among {}", kinds(replies));
    errors[0].field(b'C').expect("a SQLSTATE")
}

/// The transaction status in the last reply, a ReadyForQuery.
#[track_caller]
pub fn status(replies: &[Reply]) -> char {
    match replies.last() {
        Some(Reply { kind: b'Z', body }) => char::from(body[0]),
        _ => panic!("no ReadyForQuery at the end of {}", kinds(replies)),
    }
}

/// The values of the first column of each row as text. NULL is `"NULL"`.
pub fn column(replies: &[Reply]) -> Vec<String> {
    let value = |reply: &Reply| {
        let length = i32::from_be_bytes(reply.body[2..6].try_into().expect("four bytes"));
        match usize::try_from(length) {
            Ok(length) => String::from_utf8_lossy(&reply.body[6..6 + length]).into_owned(),
            Err(_) => "NULL".to_string(),
        }
    };
    replies.iter().filter(|reply| reply.kind == b'D').map(value).collect()
}
