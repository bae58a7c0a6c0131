//! Files of `torch.save`, made by hand.

use std::io::Write;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A zip archive of these files, uncompressed.
pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The pickle of `{"w": tensor}`.
pub fn pickle_of(class: &str, key: &str, length: i32, offset: i32, shape: &[i32], strides: &[i32]) -> Vec<u8> {
    pickle_named("w", class, key, length, offset, [shape, strides])
}

/// The pickle of `{name: tensor}`; `layout` is the tensor's shape and strides.
pub fn pickle_named(name: &str, class: &str, key: &str, length: i32, offset: i32, layout: [&[i32]; 2]) -> Vec<u8> {
    let tensor = tensor(class, key, length, offset, layout);
    [b"\x80\x02}(".to_vec(), text(name), tensor, b"u.".to_vec()].concat()
}

/// Instructions that push a text.
pub fn text(text: &str) -> Vec<u8> {
    [&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
}

/// Instructions that push a tensor.
pub fn tensor(class: &str, key: &str, length: i32, offset: i32, layout: [&[i32]; 2]) -> Vec<u8> {
    let number = |number: i32| [&b"J"[..], &number.to_le_bytes()].concat();
    let numbers = |numbers: &[i32]| {
        let each: Vec<u8> = numbers.iter().flat_map(|&one| number(one)).collect();
        [&b"("[..], &each, b"t"].concat()
    };
    let class = format!("ctorch\n{class}\n");
    let storage =
        [b"(".to_vec(), text("storage"), class.into(), text(key), text("cuda:0"), number(length), b"tQ".to_vec()];
    let [shape, strides] = layout;
    let layout = [number(offset), numbers(shape), numbers(strides), b"\x89Nt".to_vec()];
    let call = b"ctorch._utils\n_rebuild_tensor_v2\n(".to_vec();
    [call, storage.concat(), layout.concat(), b"R".to_vec()].concat()
}

/// A file of the older form, whose pickles are `saved` and `keys`, and what follows them.
pub fn legacy(saved: &[u8], keys: &[u8], storages: &[u8]) -> Vec<u8> {
    let magic = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
    let machine = [b"\x80\x02}".to_vec(), text("little_endian"), b"\x88s.".to_vec()].concat();
    [&magic[..], b"\x80\x02M\xe9\x03.", &machine, saved, keys, storages].concat()
}
