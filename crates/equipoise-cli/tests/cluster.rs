#![cfg(feature = "cluster")]
