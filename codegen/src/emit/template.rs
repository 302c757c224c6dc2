//! Files that are not Rust look like their output, with `{{name}}` where a value goes.

/// The template with every `{{name}}` replaced. A name without a value, or a value without its name, is our own mistake.
pub fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut text = template.to_string();
    for (name, value) in values {
        let mark = format!("{{{{{name}}}}}");
        assert!(template.contains(&mark), "the template has no {mark}");
        text = text.replace(&mark, value);
    }
    let rest = text.find("{{").map(|at| text[at..].chars().take(40).collect::<String>());
    assert!(rest.is_none(), "the template asks for {}", rest.unwrap_or_default());
    text
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn names_are_replaced() {
        assert_eq!(fill("a {{b}} c {{b}}", &[("b", "x".into())]), "a x c x");
    }

    #[test]
    #[should_panic(expected = "asks for")]
    fn an_undefined_name_is_an_error() {
        fill("{{a}}", &[]);
    }
}
