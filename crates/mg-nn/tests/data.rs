//! Data sets and batches: files that are right, files that are not, and digits drawn.

mod directory;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use mg_device::{DType, ErrorKind, Shape};
use mg_nn::data::{Batches, Mnist, digits, idx};
use proptest::prelude::*;

use directory::Dir;

fn idx_bytes(code: u8, sizes: &[u32], elements: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, code, sizes.len() as u8];
    sizes.iter().for_each(|n| bytes.extend(n.to_be_bytes()));
    bytes.extend(elements);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The text of the format error that parsing `bytes` gives.
fn refused(bytes: &[u8]) -> String {
    let e = idx::parse("x.idx", bytes).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Format(_)), "{e}");
    let text = e.to_string();
    assert!(text.contains("x.idx: ") && text.contains("tests/data.rs"), "{text}");
    text
}

#[test]
fn every_idx_type_is_read_from_big_endian() {
    let one = |code, bytes: &[u8], size: usize| {
        idx::parse("x", &idx_bytes(code, &[(bytes.len() / size) as u32], bytes)).unwrap()
    };
    assert_eq!(one(0x08, &[1, 255], 1).data.as_slice::<u8>().unwrap(), [1, 255]);
    assert_eq!(one(0x09, &[1, 255], 1).data.as_slice::<i8>().unwrap(), [1, -1]);
    assert_eq!(one(0x0b, &[1, 2, 255, 254], 2).data.as_slice::<i16>().unwrap(), [258, -2]);
    assert_eq!(one(0x0c, &(-77_777i32).to_be_bytes(), 4).data.as_slice::<i32>().unwrap(), [-77_777]);
    assert_eq!(one(0x0d, &1.5f32.to_be_bytes(), 4).data.as_slice::<f32>().unwrap(), [1.5]);
    assert_eq!(one(0x0e, &(-0.1f64).to_be_bytes(), 8).data.as_slice::<f64>().unwrap(), [-0.1]);
}

#[test]
fn gzip_is_told_by_content_and_ranks_go_to_eight() {
    let elements: Vec<u8> = (0..24).collect();
    let plain = idx_bytes(0x08, &[2, 3, 4], &elements);
    for bytes in [plain.clone(), gzip(&plain), [gzip(&plain[..9]), gzip(&plain[9..])].concat()] {
        let array = idx::parse("x", &bytes).unwrap();
        assert_eq!((array.dtype(), array.shape), (DType::U8, Shape::from([2, 3, 4])));
        assert_eq!(array.data.as_slice::<u8>().unwrap(), elements);
    }
    assert_eq!(idx::parse("x", &idx_bytes(8, &[], &[9])).unwrap().shape, Shape::scalar());
    assert_eq!(idx::parse("x", &idx_bytes(8, &[1; 8], &[9])).unwrap().shape.rank(), 8);
    assert_eq!(idx::parse("x", &idx_bytes(8, &[0, 7], &[])).unwrap().data.len(), 0);
}

#[test]
fn a_bad_idx_file_is_refused_by_the_field_that_is_bad() {
    assert!(refused(&[]).contains("truncated in the magic number: 4 of 4 bytes are missing"));
    assert!(refused(&[0, 0]).contains("2 of 4 bytes"));
    assert!(refused(&[1, 2, 8, 1]).contains("starts with 01 02, not 00 00"));
    assert!(refused(&idx_bytes(0x0a, &[1], &[0])).contains("type code 0x0a"));
    assert!(refused(&idx_bytes(0x08, &[1; 17], &[0])).contains("rank 17 is too high"));
    assert!(refused(&idx_bytes(0x08, &[2, 3], &[0; 6])[..10]).contains("truncated in the sizes: 2 of 8"));
    let short = refused(&idx_bytes(0x0c, &[2, 3], &[0; 20]));
    assert!(short.contains("sizes [2, 3] take 24 bytes of elements, 20 are there, 4 are missing"), "{short}");
    assert!(refused(&idx_bytes(0x08, &[2], &[0; 3])).contains("more bytes follow the 2"));
    assert!(refused(&idx_bytes(0x08, &[u32::MAX; 4], &[])).contains("over the limit of 1073741824 bytes"));
    assert!(refused(&idx_bytes(0x0d, &[1 << 28, 2], &[])).contains("4-byte elements are over the limit"));
}

#[test]
fn damaged_gzip_is_refused() {
    let good = gzip(&idx_bytes(0x08, &[4000], &(0..4000).map(|i| (i * i % 251) as u8).collect::<Vec<_>>()));
    assert!(refused(&good[..good.len() / 2]).contains("truncated"));
    assert!(refused(&good[..good.len() - 3]).contains("truncated gzip data"));
    let mut wrong_sum = good.clone();
    wrong_sum[good.len() - 6] ^= 1;
    assert!(refused(&wrong_sum).contains("damaged gzip data"));
    assert!(refused(&[&good[..], &gzip(&[1])].concat()).contains("more bytes follow"));
}

#[test]
fn a_limit_may_be_set_and_a_missing_file_is_an_io_error() {
    let dir = Dir::new("limit");
    let path = dir.0.join("a.idx");
    fs::write(&path, idx_bytes(0x0c, &[3], &[0; 12])).unwrap();
    assert!(idx::read_with_limit(&path, 12).is_ok());
    assert!(matches!(idx::read_with_limit(&path, 11).unwrap_err().kind(), ErrorKind::Format(_)));
    for path in [dir.0.join("none"), dir.0.clone()] {
        let e = idx::read(&path).unwrap_err();
        assert!(
            matches!(e.kind(), ErrorKind::Io(_)) && e.to_string().contains(path.to_str().unwrap()),
            "{e}"
        );
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), zip: bool) {
        let _ = idx::parse("x", &bytes);
        let mut bytes = [&[0u8, 0, 8, 2, 0, 0][..], &bytes].concat();
        if zip {
            bytes = gzip(&bytes);
        }
        let _ = idx::parse("x", &bytes);
    }

    #[test]
    fn changed_bytes_never_panic(at in 0usize..400, by in 1u8.., zip: bool) {
        let mut bytes = idx_bytes(0x0b, &[5, 7], &[3; 70]);
        if zip {
            bytes = gzip(&bytes);
        }
        let at = at % bytes.len();
        bytes[at] ^= by;
        let _ = idx::parse("x", &bytes);
    }

    #[test]
    fn a_shuffle_is_a_permutation_cut_into_batches(
        n in 0usize..300, batch in 1usize..50, seed: Option<u64>, drop_last: bool, k: u64,
    ) {
        let batches = Batches::new(n, batch, seed, drop_last).unwrap();
        let epoch = batches.epoch(k);
        prop_assert_eq!(epoch.iter().len(), batches.len());
        prop_assert_eq!(epoch.iter().flatten().copied().collect::<Vec<_>>(), epoch.order());
        prop_assert!(epoch.iter().rev().skip(usize::from(!drop_last)).all(|b| b.len() == batch));
        let mut order = epoch.order().to_vec();
        prop_assert_eq!(order.len(), if drop_last { n - n % batch } else { n });
        order.sort_unstable();
        order.dedup();
        prop_assert_eq!(order.len(), epoch.order().len());
        prop_assert!(order.iter().all(|&i| 0 <= i && i < n as i64));
        let again = batches.epoch(k);
        prop_assert_eq!(again.order(), epoch.order());
    }
}

#[test]
fn epochs_and_seeds_give_other_orders() {
    let order =
        |seed, epoch| Batches::new(1000, 10, Some(seed), false).unwrap().epoch(epoch).order().to_vec();
    let all = [order(1, 0), order(1, 1), order(2, 0), order(2, 1)];
    for (i, a) in all.iter().enumerate() {
        for b in &all[..i] {
            // Two random permutations agree in one place on average.
            assert!(a.iter().zip(b).filter(|(a, b)| a == b).count() < 10);
        }
    }
    let plain = Batches::new(5, 2, None, false).unwrap();
    assert_eq!(plain.epoch(9).iter().collect::<Vec<_>>(), [&[0, 1][..], &[2, 3], &[4]]);
}

#[test]
fn every_permutation_is_equally_likely() {
    let batches = Batches::new(4, 4, Some(5), false).unwrap();
    let mut counts = std::collections::HashMap::new();
    for k in 0..24_000 {
        *counts.entry(batches.epoch(k).order().to_vec()).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 24);
    // 23 degrees of freedom: beyond 49.7 has a probability of 0.001.
    let chi: f64 = counts.values().map(|&c| (f64::from(c) - 1e3).powi(2) / 1e3).sum();
    assert!(chi < 49.7, "{chi}");
}

#[test]
fn batches_of_none_are_refused() {
    let e = Batches::new(10, 0, None, false).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Value(_)) && e.to_string().contains("tests/data.rs"), "{e}");
    assert!(Batches::new(0, 3, None, false).unwrap().is_empty());
    assert!(Batches::new(2, 3, None, true).unwrap().is_empty());
    assert_eq!(Batches::new(2, usize::MAX, None, false).unwrap().len(), 1);
}

#[test]
fn digits_are_the_same_for_the_same_seed_on_every_machine() {
    let (images, labels) = digits::draw(200, 42);
    assert_eq!((images.len(), labels.len()), (200 * 784, 200));
    assert_eq!(digits::draw(50, 42), (images[..50 * 784].to_vec(), labels[..50].to_vec()));
    assert_ne!(digits::draw(50, 43).0, images[..50 * 784]);
    let fnv = images
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    assert_eq!(fnv, 10_901_909_863_497_169_268, "the images of seed 42 changed");
}

/// Nearest-mean classification is what a model with no hidden layer and no training can do.
#[test]
fn digits_are_learnable_and_not_trivial() {
    let (train, test) = (4000, 1000);
    let (images, labels) = digits::draw(train + test, 1);
    let images: Vec<&[u8]> = images.chunks(784).collect();
    let mut means = vec![[0.0f32; 784]; 10];
    let mut counts = [0.0f32; 10];
    for (image, &label) in images.iter().zip(&labels).take(train) {
        counts[usize::from(label)] += 1.0;
        means[usize::from(label)].iter_mut().zip(*image).for_each(|(m, &p)| *m += f32::from(p));
    }
    assert!(counts.iter().all(|c| (330.0..470.0).contains(c)), "{counts:?}");
    let distance = |image: &[u8], k: usize| -> f32 {
        image.iter().zip(&means[k]).map(|(&p, m)| (f32::from(p) - m / counts[k]).powi(2)).sum()
    };
    let right = (train..train + test)
        .filter(|&i| {
            let nearest = (0..10).min_by(|&a, &b| distance(images[i], a).total_cmp(&distance(images[i], b)));
            nearest == Some(usize::from(labels[i]))
        })
        .count();
    assert!((650..900).contains(&right), "{right} of {test}");
    for (i, image) in images.iter().enumerate() {
        let ink = image.iter().filter(|&&p| p > 127).count();
        assert!((10..330).contains(&ink), "image {i} has {ink} dark pixels");
        let border =
            image.iter().enumerate().filter(|(j, _)| matches!(j / 28, 0 | 27) || matches!(j % 28, 0 | 27));
        assert!(border.map(|(_, &p)| u32::from(p)).sum::<u32>() < 2000, "image {i} is cut off");
    }
}

#[test]
fn drawn_digits_come_in_the_form_of_mnist() {
    let mnist = digits::mnist(30, 10, 3);
    let (images, labels) = digits::draw(40, 3);
    assert_eq!(mnist.train_images.shape, Shape::from([30, 28, 28]));
    assert_eq!(mnist.test_labels.shape, Shape::from([10]));
    assert_eq!(mnist.test_images.data.as_slice::<u8>().unwrap(), &images[30 * 784..]);
    assert_eq!(mnist.train_labels.data.as_slice::<u8>().unwrap(), &labels[..30]);
}

/// Writes the four files of a data set of 3 and 2 samples.
fn small_mnist(dir: &Path, names: [&str; 4]) {
    let images = |n: u32| idx_bytes(8, &[n, 2, 2], &vec![7; 4 * n as usize]);
    let labels = |n: u32| idx_bytes(8, &[n], &vec![9; n as usize]);
    for (name, bytes) in names.into_iter().zip([images(3), labels(3), images(2), labels(2)]) {
        let bytes = if name.ends_with(".gz") { gzip(&bytes) } else { bytes };
        fs::write(dir.join(name), bytes).unwrap();
    }
}

const NAMES: [&str; 4] = [
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte",
];

#[test]
fn mnist_is_found_under_all_its_names() {
    let dir = Dir::new("names");
    for names in [
        NAMES,
        [
            "train-images.idx3-ubyte",
            "train-labels.idx1-ubyte",
            "t10k-images.idx3-ubyte.gz",
            "t10k-labels-idx1-ubyte",
        ],
    ] {
        small_mnist(&dir.0, names);
        let mnist = Mnist::load(&dir.0).unwrap();
        assert_eq!(mnist.train_images.shape, Shape::from([3, 2, 2]));
        assert_eq!(mnist.test_labels.data.as_slice::<u8>().unwrap(), [9, 9]);
        names.iter().for_each(|name| fs::remove_file(dir.0.join(name)).unwrap());
    }
    let e = Mnist::load(&dir.0).unwrap_err();
    assert!(
        matches!(e.kind(), ErrorKind::Io(_)) && e.to_string().contains("train-images-idx3-ubyte.gz"),
        "{e}"
    );
    assert!(e.to_string().contains("tests/data.rs"), "{e}");
}

#[test]
fn files_of_mnist_that_do_not_agree_are_refused() {
    let dir = Dir::new("disagree");
    for (name, bytes, complaint) in [
        (NAMES[1], idx_bytes(8, &[2], &[1, 2]), "has 3 images"),
        (NAMES[3], idx_bytes(8, &[2], &[1, 10]), "label 10 of sample 1 is out of range"),
        (
            NAMES[2],
            idx_bytes(8, &[2, 2, 1], &[0; 4]),
            "the training images are [2, 2], the test images [2, 1]",
        ),
        (NAMES[0], idx_bytes(8, &[3, 4], &[0; 12]), "u8 of shape [3, 4], where u8 of rank 3 should be"),
        (NAMES[1], idx_bytes(9, &[3], &[0; 3]), "i8 of shape [3]"),
        (NAMES[2], idx_bytes(8, &[2, 2, 2], &[0; 7]), "1 are missing"),
    ] {
        small_mnist(&dir.0, NAMES);
        fs::write(dir.0.join(name), bytes).unwrap();
        let e = Mnist::load(&dir.0).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::Format(_)), "{e}");
        assert!(e.to_string().contains(complaint), "{e}");
    }
}

/// Against the real files: in `MNIST_DIR`, or `shared/data/mnist` beside the checkout.
#[test]
fn the_real_mnist_is_read() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mnist");
    let dir = std::env::var_os("MNIST_DIR").map_or(beside, PathBuf::from);
    if !dir.is_dir() {
        println!("skipped: no MNIST files");
        return;
    }
    let mnist = Mnist::load(&dir).unwrap();
    assert_eq!(mnist.train_images.shape, Shape::from([60_000, 28, 28]));
    assert_eq!(mnist.test_images.shape, Shape::from([10_000, 28, 28]));
    let labels = mnist.train_labels.data.as_slice::<u8>().unwrap();
    assert_eq!(labels[..10], [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]);
    assert_eq!(mnist.test_labels.data.as_slice::<u8>().unwrap()[..5], [7, 2, 1, 0, 4]);
    let pixels = mnist.train_images.data.as_slice::<u8>().unwrap();
    // The mean by which everybody normalises MNIST.
    let mean = pixels.iter().map(|&p| u64::from(p)).sum::<u64>() as f64 / pixels.len() as f64 / 255.0;
    assert!((mean - 0.1307).abs() < 5e-5, "{mean}");
}
