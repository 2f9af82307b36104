#![cfg(feature = "ballista")]
