//! What is asked of one item.

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// The item.
    pub task_id: String,
    /// What a server is sent; empty for other players.
    pub prompt: String,
    /// The digest of all that the answer depends on.
    pub request: Digest,
}

/// The first 16 bytes of a BLAKE3.
pub type Digest = [u8; 16];

/// The digest of a request.
pub fn digest(request: &str) -> Digest {
    let mut first = Digest::default();
    first.copy_from_slice(&blake3::hash(request.as_bytes()).as_bytes()[..16]);
    first
}
