//! Paths, as the engine reads them.

use std::path::Path;

/// `path` as a URL. The engine takes a plain path with `[`, `?` or `*` in it for a pattern.
pub fn file_url(path: &Path) -> String {
    let mut url = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(*byte)),
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_url() {
        assert_eq!(file_url(Path::new("/a b/c[1]%20?.é")), "file:///a%20b/c%5B1%5D%2520%3F.%C3%A9");
    }
}
