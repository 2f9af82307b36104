//! Object stores where they are not compiled in: an address is recognised, and refused with what helps.

use super::parquet::Stretch;
use crate::error::{Error, Kind, Result};
use ::parquet::file::metadata::ParquetMetaData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// There are none.
pub(crate) enum Object {}

impl Object {
    pub(crate) fn metadata(&self) -> Arc<ParquetMetaData> {
        match *self {}
    }

    pub(crate) fn stretches(&self, _: Vec<Range<u64>>) -> Result<Vec<Stretch>> {
        match *self {}
    }
}

/// Whether a path is an address in an object store.
pub(crate) fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(|text| ["s3://", "gs://", "az://"].iter().any(|root| text.starts_with(root)))
}

pub(crate) fn files(_: &Path) -> Result<Vec<PathBuf>> {
    let expected = "a file or folder; this build has no object stores; build with --features object-store";
    Err(Error::new(Kind::Unreadable, "an address in an object store", expected))
}

pub(crate) fn open(path: &Path) -> Result<Arc<Object>> {
    match files(path) {
        Err(error) => Err(error),
        Ok(_) => Err(Error::new(Kind::Unreadable, "no object store", "a file")),
    }
}
