//! The data files a study names.

use super::{QuerySpace, Study};
use std::path::{Path, PathBuf};

impl Study {
    /// The data files the study names.
    pub fn data_files(&self) -> Vec<&PathBuf> {
        let mut files = match &self.space {
            QuerySpace::Table { file, .. }
            | QuerySpace::Pool { file }
            | QuerySpace::Attributes { file, .. } => {
                vec![file]
            }
            _ => vec![],
        };
        if let Some(candidates) = &self.candidates {
            files.extend(candidates.file.iter().chain(&candidates.predictions).chain(&candidates.attributes));
        }
        files
    }

    /// The same study with another file in the place of one.
    pub(crate) fn with_file(mut self, file: &Path, other: &Path) -> Self {
        let space = match &mut self.space {
            QuerySpace::Table { file, .. }
            | QuerySpace::Pool { file }
            | QuerySpace::Attributes { file, .. } => Some(file),
            _ => None,
        };
        let candidates = self.candidates.iter_mut();
        let models =
            candidates.flat_map(|of| of.file.iter_mut().chain(&mut of.predictions).chain(&mut of.attributes));
        space
            .into_iter()
            .chain(models)
            .filter(|named| named.as_path() == file)
            .for_each(|named| other.clone_into(named));
        self
    }
}
