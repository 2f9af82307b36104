//! Our Cholesky inverse beside faer's, at the sizes of the sweeps: what ADR 6 decides by.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use faer::linalg::solvers::DenseSolveCore;
use faer::{MatRef, Side};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;

#[allow(dead_code, unused_imports, reason = "the bench looks at a part of it")]
#[path = "../src/linalg.rs"]
mod linalg;

/// The precision after three answers per weight.
fn precision(size: usize) -> linalg::Matrix {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(size as u64);
    let mut matrix = linalg::zeros(size);
    (0..size).for_each(|i| matrix[i][i] = 1.0);
    for _ in 0..3 * size {
        let w = linalg::normals(size, &mut random);
        for i in 0..size {
            for j in 0..size {
                matrix[i][j] += w[i] * w[j];
            }
        }
    }
    matrix
}

fn inverses(c: &mut Criterion) {
    let mut group = c.benchmark_group("inverse of a precision");
    for size in [6, 12, 30] {
        let matrix = precision(size);
        group.bench_with_input(BenchmarkId::new("ours", size), &matrix, |b, matrix| {
            b.iter(|| linalg::inverse_of_positive(black_box(matrix)));
        });
        group.bench_with_input(BenchmarkId::new("faer", size), &matrix.concat(), |b, matrix| {
            b.iter(|| {
                let matrix = MatRef::from_row_major_slice(black_box(&matrix[..]), size, size);
                matrix.llt(Side::Lower).expect("positive").inverse()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, inverses);
criterion_main!(benches);
