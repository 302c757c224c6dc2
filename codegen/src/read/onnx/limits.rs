//! A bound on the memory that decoding may take, checked on the bytes before they are decoded.
//!
//! An empty message takes two bytes in a file and hundreds in memory, so a small file could ask for gigabytes. This
//! walk counts the messages and strings that [`super::proto`] would build, without building them.

use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// The most messages and strings a model may hold.
const MAX_ITEMS: usize = 1 << 20;

#[derive(Clone, Copy)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    ValueInfo,
    Type,
    TensorType,
    Shape,
    Tensor,
    /// A message whose parts are plain numbers and bytes, or one that is not looked into.
    Leaf,
}

/// What the field of a message holds, if it is a message or string.
fn part(message: Message, field: u32) -> Option<Message> {
    Some(match (message, field) {
        (Message::Model, 7) => Message::Graph,
        (Message::Model, 8 | 25) => Message::Leaf,
        (Message::Graph, 1) => Message::Node,
        (Message::Graph, 5) | (Message::Attribute, 5) => Message::Tensor,
        (Message::Graph, 15) => Message::Leaf,
        (Message::Graph, 11 | 12) => Message::ValueInfo,
        (Message::Node, 1 | 2) => Message::Leaf,
        (Message::Node, 5) => Message::Attribute,
        (Message::ValueInfo, 2) => Message::Type,
        (Message::Type, 1) => Message::TensorType,
        (Message::TensorType, 2) => Message::Shape,
        (Message::Shape, 1) => Message::Leaf,
        (Message::Tensor, 13) => Message::Leaf,
        _ => return None,
    })
}

/// Refuses a model with more items than any real one has. Bytes that are not protobuf are left to the decoder.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut items = 0;
    walk(Message::Model, bytes, &mut items);
    if items > MAX_ITEMS {
        return Err(format!("the model holds more than {MAX_ITEMS} nodes, names and attributes"));
    }
    Ok(())
}

/// Counts the items of one message; the recursion is as deep as the table above, no deeper.
fn walk(message: Message, mut bytes: &[u8], items: &mut usize) -> Option<()> {
    while bytes.has_remaining() && *items <= MAX_ITEMS {
        let (field, wire) = decode_key(&mut bytes).ok()?;
        match part(message, field) {
            Some(inner) if wire == WireType::LengthDelimited => {
                let len = usize::try_from(decode_varint(&mut bytes).ok()?).ok()?;
                let (body, rest) = bytes.split_at_checked(len)?;
                *items += 1;
                walk(inner, body, items);
                bytes = rest;
            }
            _ => skip_field(wire, field, &mut bytes, DecodeContext::default()).ok()?,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_empty_nodes_is_refused() {
        let nodes = [0x0a, 0x00].repeat(MAX_ITEMS + 1);
        let mut model = vec![0x3a];
        prost::encoding::encode_varint(nodes.len() as u64, &mut model);
        model.extend(nodes);
        assert!(check(&model).is_err());
    }

    /// Each of these is a message in memory: functions of the model, and where the data of a tensor lies.
    #[test]
    fn so_are_floods_of_other_messages() {
        let nested = |fields: &[u32], flood: Vec<u8>| {
            fields.iter().rev().fold(flood, |inner, &field| {
                let mut outer = vec![];
                prost::encoding::encode_key(field, WireType::LengthDelimited, &mut outer);
                prost::encoding::encode_varint(inner.len() as u64, &mut outer);
                outer.extend(inner);
                outer
            })
        };
        let flood = |fields: &[u32]| nested(fields, vec![]).repeat(MAX_ITEMS + 1);
        assert!(check(&flood(&[25])).is_err());
        assert!(check(&nested(&[7, 5], flood(&[13]))).is_err());
        assert!(check(&nested(&[7, 1, 5, 5], flood(&[13]))).is_err());
        assert!(check(&nested(&[7, 5], [0x6a, 0x00].repeat(1000))).is_ok());
    }

    #[test]
    fn garbage_is_left_to_the_decoder() {
        assert!(check(&[0xff; 64]).is_ok());
        assert!(check(&[]).is_ok());
    }
}
