#![forbid(unsafe_code)]
//! Tables of predictions: read from the files people have, and checked so that nothing is lost silently.
//!
//! A table has a true class and predicted class probabilities for every row, maybe groups and weights.
//! [`read::table`] takes CSV, JSON Lines, Parquet or Arrow and says what it guessed; what it cannot use is
//! an [`Error`] that names file, row and column, what was found and what was expected.
//!
//! ```
//! use equipoise_data::{Columns, read};
//! # let path = std::env::temp_dir().join(format!("equipoise-data-{}.csv", std::process::id()));
//! std::fs::write(&path, "y,p_benign,p_malignant\nbenign,0.9,0.1\nmalignant,0.2,0.8\n")?;
//! let reading = read::table(&path, &Columns::guess())?;
//! assert_eq!(reading.data.classes(), ["benign", "malignant"]);
//! assert_eq!(reading.data.truth(), [0, 1]);
//! assert_eq!(reading.notes[1].to_string(), "truth column: y (guessed)");
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod boundary;
mod calibrate;
mod confusions;
mod counted;
mod error;
mod kernel;
mod note;
mod pool;
#[cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]
pub mod read;
mod sample;
mod smooth;
mod space;
mod steps;
mod subsample;
mod table;
mod uncertainty;
#[cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]
pub mod wire;

pub use boundary::Boundary;
pub use calibrate::{Bin, Reliability};
pub use confusions::ModelConfusions;
pub use counted::Counted;
pub use error::{Error, Kind, Place, Result};
pub use note::{Note, Reading};
pub use pool::Pool;
pub use read::{Columns, Scale};
pub use sample::Sample;
pub use smooth::Smooth;
pub use space::{binary_space, diagonal_space, operating_point, space_for};
pub use table::{Groups, MOST_CLASSES, MOST_GROUPS, Table};
pub use uncertainty::on_all_cores;
