//! A server that answers constants, for what the wire and the kernel alone take: one thread a connection, one `recv` and one `send` for
//! each message of the client's, nothing looked up; COMMIT writes a hundred bytes and syncs them together with who waits beside it.
//! A goal near what this takes cannot be reached by anything that does more.
//!
//! `cargo run --release -p percosql-bench --example floor 127.0.0.1:5444 FILE`, then pgbench with a script of one's own, for those
//! built in ask for tables: `pgbench -n -h 127.0.0.1 -p 5444 -M prepared -f select.sql`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A file that commits are written to.
struct Log {
    file: File,
    state: Mutex<State>,
    synced: Condvar,
}

#[derive(Default)]
struct State {
    /// Commits that were asked for, and those that are durable.
    asked: u64,
    durable: u64,
    syncing: bool,
}

impl Log {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers when a commit is durable. Who finds nobody syncing does it for all.
    fn commit(&self) -> Result<()> {
        let mut state = self.state();
        state.asked += 1;
        let mine = state.asked;
        while state.durable < mine {
            if state.syncing {
                state = self.synced.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let all = state.asked;
            let record = vec![7; 100 * usize::try_from(all - state.durable).unwrap_or(1)];
            state.syncing = true;
            drop(state);
            let written = (&self.file).write_all(&record).and_then(|()| self.file.sync_data());
            state = self.state();
            state.syncing = false;
            self.synced.notify_all();
            written?;
            state.durable = all;
        }
        Ok(())
    }
}

/// What a statement answers, by its first word.
#[derive(Clone, Copy)]
enum Answer {
    Rows,
    Commit,
    Tag(&'static [u8]),
}

fn answer(sql: &[u8]) -> Answer {
    match sql.get(..3).unwrap_or_default().to_ascii_uppercase().as_slice() {
        b"SEL" => Answer::Rows,
        b"END" | b"COM" => Answer::Commit,
        b"BEG" => Answer::Tag(b"BEGIN\0"),
        b"UPD" => Answer::Tag(b"UPDATE 1\0"),
        b"INS" => Answer::Tag(b"INSERT 0 1\0"),
        _ => Answer::Tag(b"SET\0"),
    }
}

fn message(out: &mut Vec<u8>, kind: u8, body: &[u8]) {
    out.push(kind);
    out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    out.extend_from_slice(body);
}

/// One column of type int4.
const DESCRIPTION: &[u8] = b"\0\x01abalance\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
const ROW: &[u8] = b"\0\x01\0\0\0\x050....";

fn describe(out: &mut Vec<u8>, answer: Answer) {
    match answer {
        Answer::Rows => message(out, b'T', DESCRIPTION),
        _ => message(out, b'n', b""),
    }
}

fn execute(out: &mut Vec<u8>, answer: Answer, log: &Log) -> Result<()> {
    let tag: &[u8] = match answer {
        Answer::Rows => {
            message(out, b'D', ROW);
            b"SELECT 1\0"
        }
        Answer::Commit => {
            log.commit()?;
            b"COMMIT\0"
        }
        Answer::Tag(tag) => tag,
    };
    message(out, b'C', tag);
    Ok(())
}

fn until_nul(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    (bytes.get(..end).unwrap_or_default(), bytes.get(end + 1..).unwrap_or_default())
}

fn serve(mut socket: TcpStream, log: &Log) -> Result<()> {
    socket.set_nodelay(true)?;
    let (mut buffer, mut filled) = (vec![0; 1 << 16], 0);
    let (mut out, mut started) = (Vec::new(), false);
    let mut statements: HashMap<Vec<u8>, Answer> = HashMap::new();
    let mut bound = Answer::Tag(b"SET\0");
    loop {
        let space = buffer.get_mut(filled..).filter(|space| !space.is_empty());
        let read = socket.read(space.ok_or(Error::from(ErrorKind::InvalidData))?)?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut at = 0;
        while let Some(rest) = buffer.get(at..filled) {
            let head = usize::from(started);
            let Some(length) = rest.get(head..).and_then(|rest| rest.first_chunk::<4>()) else { break };
            let end = head + u32::from_be_bytes(*length) as usize;
            let Some(body) = rest.get(head + 4..end) else { break };
            at += end;
            if !started {
                // Encryption is asked for with a message of eight bytes.
                if end == 8 {
                    out.push(b'N');
                    continue;
                }
                started = true;
                message(&mut out, b'R', &[0; 4]);
                message(&mut out, b'S', b"server_version\x0015.0\0");
                message(&mut out, b'Z', b"I");
                continue;
            }
            match rest.first() {
                Some(b'Q') => {
                    let answer = answer(body);
                    if let Answer::Rows = answer {
                        describe(&mut out, answer);
                    }
                    execute(&mut out, answer, log)?;
                    message(&mut out, b'Z', b"I");
                }
                Some(b'P') => {
                    let (name, rest) = until_nul(body);
                    statements.insert(name.to_vec(), answer(rest));
                    message(&mut out, b'1', b"");
                }
                Some(b'B') => {
                    let (_, rest) = until_nul(body);
                    bound = *statements.get(until_nul(rest).0).ok_or(Error::from(ErrorKind::InvalidData))?;
                    message(&mut out, b'2', b"");
                }
                Some(b'D') => describe(&mut out, bound),
                Some(b'E') => execute(&mut out, bound, log)?,
                Some(b'S') => message(&mut out, b'Z', b"I"),
                _ => return Ok(()),
            }
        }
        buffer.copy_within(at..filled, 0);
        filled -= at;
        if !out.is_empty() {
            socket.write_all(&out)?;
            out.clear();
        }
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err(Error::other("floor ADDRESS FILE"));
    };
    let file = File::options().create(true).append(true).open(path)?;
    let log = Arc::new(Log { file, state: Mutex::default(), synced: Condvar::new() });
    for socket in TcpListener::bind(address)?.incoming() {
        let (socket, log) = (socket?, log.clone());
        std::thread::spawn(move || {
            // Who hangs up is not missed.
            let _ = serve(socket, &log);
        });
    }
    Ok(())
}
