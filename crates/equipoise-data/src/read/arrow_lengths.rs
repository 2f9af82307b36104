//! The lengths an Arrow file promises, checked before the reader trusts them.
//!
//! The reader of the `arrow-ipc` crate allocates what a length says before it reads, and a damaged length
//! may say a terabyte: the process would end instead of the file being refused. So every length is held
//! against the size of the file first. Bodies are skipped, which makes this a matter of a few reads per batch.

use super::format::{Format, Stream, fits_in_memory};
use crate::error::{Error, Result};
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, Message, MessageHeader, RecordBatch, root_as_footer, root_as_message};
use std::io::{self, Read as _, Seek as _, SeekFrom};

const CONTINUATION: [u8; 4] = [0xff; 4];

/// Checks the lengths in an Arrow file, which has its batches listed at the end.
pub(crate) fn check_file(file: Box<dyn Stream>) -> Result<()> {
    let mut walk = Walk::new(file)?;
    let trailer = walk.size.checked_sub(10).ok_or_else(|| damaged("it is too short"))?;
    let mut end = [0; 10];
    walk.read(trailer, &mut end)?;
    let length = read_footer_length(end).map_err(|_| damaged("its end is missing"))?;
    let start =
        trailer.checked_sub(length as u64).ok_or_else(|| damaged("its end is longer than the file"))?;
    let footer = walk.bytes(start, length as u64)?;
    let footer = root_as_footer(&footer).map_err(|error| damaged(&error.to_string()))?;
    let dictionaries = footer.dictionaries().into_iter().flatten();
    let batches = footer.recordBatches().into_iter().flatten();
    dictionaries.chain(batches).try_for_each(|block| walk.block(block))
}

/// Checks the lengths in an Arrow stream, message after message.
pub(crate) fn check_stream(file: Box<dyn Stream>) -> Result<()> {
    let mut walk = Walk::new(file)?;
    let mut at = 0;
    while at + 4 <= walk.size {
        let mut word = [0; 4];
        walk.read(at, &mut word)?;
        at += 4;
        if word == CONTINUATION {
            walk.read(at, &mut word)?;
            at += 4;
        }
        let length = promised(i32::from_le_bytes(word).into())?;
        if length == 0 {
            break;
        }
        at = walk.message(at, length)?;
    }
    Ok(())
}

fn damaged(what: &str) -> Error {
    Format::Arrow.damaged(what)
}

fn promised(length: i64) -> Result<u64> {
    u64::try_from(length).map_err(|_| damaged("a negative length"))
}

struct Walk {
    file: Box<dyn Stream>,
    size: u64,
    unpacked: u64,
}

impl Walk {
    fn new(mut file: Box<dyn Stream>) -> Result<Self> {
        let size = file.seek(SeekFrom::End(0)).map_err(|error| damaged(&error.to_string()))?;
        Ok(Self { file, size, unpacked: 0 })
    }

    fn read(&mut self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let mut read = || -> io::Result<()> {
            self.file.seek(SeekFrom::Start(at))?;
            self.file.read_exact(buffer)
        };
        read().map_err(|_| damaged("it breaks off"))
    }

    /// Bytes that must lie within the file.
    fn bytes(&mut self, at: u64, length: u64) -> Result<Vec<u8>> {
        self.within(at, length)?;
        let mut bytes = vec![0; length as usize];
        self.read(at, &mut bytes)?;
        Ok(bytes)
    }

    fn within(&self, at: u64, length: u64) -> Result<u64> {
        let end = at.checked_add(length).filter(|&end| end <= self.size);
        end.ok_or_else(|| damaged("a part that is longer than the file"))
    }

    /// A message listed at the end of a file: its length, with or without a mark before, is part of it.
    fn block(&mut self, block: &Block) -> Result<()> {
        let (at, length) = (promised(block.offset())?, promised(block.metaDataLength().into())?);
        let body = self.within(at, length)?;
        self.within(body, promised(block.bodyLength())?)?;
        let mut word = [0; 4];
        self.read(at, &mut word)?;
        let before = if word == CONTINUATION { 8 } else { 4 };
        let length = length.checked_sub(before).ok_or_else(|| damaged("a message without content"))?;
        self.message(at + before, length).map(|_| ())
    }

    /// A message and its body; returns where the next begins.
    fn message(&mut self, at: u64, length: u64) -> Result<u64> {
        let bytes = self.bytes(at, length)?;
        let message = root_as_message(&bytes).map_err(|error| damaged(&error.to_string()))?;
        let body = at + length;
        let end = self.within(body, promised(message.bodyLength())?)?;
        match contents(&message) {
            Some(batch) if batch.compression().is_some() => self.packed(&batch, body)?,
            _ => {}
        }
        Ok(end)
    }

    /// Compressed buffers begin with their length after decompression.
    fn packed(&mut self, batch: &RecordBatch<'_>, body: u64) -> Result<()> {
        for buffer in batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() >= 8) {
            let at = body
                .checked_add(promised(buffer.offset())?)
                .ok_or_else(|| damaged("a part beyond its end"))?;
            let mut length = [0; 8];
            self.read(at, &mut length)?;
            // Minus one means that the buffer is stored as it is.
            let length = i64::from_le_bytes(length).max(0);
            self.unpacked = self.unpacked.saturating_add(length.cast_unsigned());
        }
        let unpacked = usize::try_from(self.unpacked).unwrap_or(usize::MAX);
        if fits_in_memory(unpacked) { Ok(()) } else { Err(damaged("more data than memory can hold")) }
    }
}

fn contents<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch()?.data(),
        _ => None,
    }
}
