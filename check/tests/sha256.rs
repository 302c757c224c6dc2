//! The examples of FIPS 180-4 and every length around the ends of a block.

use pg_check::digest;

fn hex(message: &[u8]) -> String {
    digest(message).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn published_examples() {
    assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_eq!(hex(two_blocks), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_eq!(hex(&vec![b'a'; 1_000_000]), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// The digests of messages of each length from 0 to 199 bytes, put one after the other and digested.
#[test]
fn lengths_around_blocks() {
    let digests: String = (0..200u8).map(|length| hex(&vec![length; length.into()])).collect();
    assert_eq!(hex(digests.as_bytes()), "c86ce814ed1233ab1d4b273da1b6b13765cd39e72e81ce941452479e70ff1b10");
}
