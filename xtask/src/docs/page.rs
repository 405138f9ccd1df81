//! A page of Markdown as prose, headings and links.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What stands for a code span in prose: a word without digits.
pub(crate) const CODE: &str = "CODE";

/// A paragraph, or the text of an item of a list, outside tables and code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paragraph {
    /// Line of its beginning, from 1.
    pub(crate) line: usize,
    /// Text without markup. Code spans are [`CODE`]; images and URLs are left out.
    pub(crate) text: String,
}

/// A link or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) line: usize,
    pub(crate) target: String,
}

/// A parsed page.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) paragraphs: Vec<Paragraph>,
    /// Texts in which no commit hash stands: all but code blocks and URLs, by lines.
    pub(crate) texts: Vec<(usize, String)>,
    pub(crate) links: Vec<Link>,
    /// Names that a URL may have behind `#`.
    pub(crate) anchors: Vec<String>,
}

impl Page {
    /// Parses Markdown with GitHub's tables and footnotes.
    pub(crate) fn parse(text: &str) -> Self {
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line = |offset: usize| starts.partition_point(|start| *start <= offset);
        let mut builder = Builder::default();
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            builder.add(event, line(range.start));
        }
        builder.end_paragraph();
        builder.page
    }
}

#[derive(Default)]
struct Builder {
    page: Page,
    paragraph: Option<Paragraph>,
    heading: Option<String>,
    /// Slugs so far, with how often each came.
    slugs: BTreeMap<String, usize>,
    table: bool,
    code_block: bool,
    image: usize,
}

impl Builder {
    fn add(&mut self, event: Event<'_>, line: usize) {
        match event {
            Event::Start(tag) => self.start(tag, line),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if !self.code_block => {
                self.page.texts.push((line, text.to_string()));
                self.push(&text, line);
            }
            Event::Code(text) => {
                self.page.texts.push((line, text.to_string()));
                if let Some(heading) = &mut self.heading {
                    heading.push_str(&text);
                } else {
                    self.push(CODE, line);
                }
            }
            Event::SoftBreak | Event::HardBreak => self.push(" ", line),
            Event::Html(html) | Event::InlineHtml(html) => {
                for attribute in ["id=\"", "name=\""] {
                    let values = html.split(attribute).skip(1);
                    let names = values.filter_map(|rest| rest.split('"').next());
                    self.page.anchors.extend(names.map(str::to_owned));
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str, line: usize) {
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        } else if !self.table && self.image == 0 {
            let paragraph =
                self.paragraph.get_or_insert_with(|| Paragraph { line, text: String::new() });
            paragraph.text.push_str(text);
        }
    }

    fn start(&mut self, tag: Tag<'_>, line: usize) {
        match tag {
            Tag::Paragraph | Tag::Item | Tag::List(_) | Tag::BlockQuote(_) => self.end_paragraph(),
            Tag::Heading { .. } => {
                self.end_paragraph();
                self.heading = Some(String::new());
            }
            Tag::Table(_) => {
                self.end_paragraph();
                self.table = true;
            }
            Tag::CodeBlock(_) => {
                self.end_paragraph();
                self.code_block = true;
            }
            Tag::Image { dest_url, .. } => {
                self.image += 1;
                self.page.links.push(Link { line, target: dest_url.to_string() });
            }
            Tag::Link { dest_url, .. } => {
                self.page.links.push(Link { line, target: dest_url.to_string() });
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                let slug = slug(&self.heading.take().unwrap_or_default());
                let count = self.slugs.entry(slug.clone()).or_default();
                let anchor = if *count == 0 { slug } else { format!("{slug}-{count}") };
                *count += 1;
                self.page.anchors.push(anchor);
            }
            TagEnd::Table => self.table = false,
            TagEnd::CodeBlock => self.code_block = false,
            TagEnd::Image => self.image -= 1,
            TagEnd::Paragraph | TagEnd::Item | TagEnd::FootnoteDefinition => self.end_paragraph(),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = self.paragraph.take();
        let paragraph = paragraph.filter(|paragraph| !paragraph.text.trim().is_empty());
        self.page.paragraphs.extend(paragraph);
    }
}

/// Returns the anchor of a heading as GitHub and mdBook form it.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|character| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ if character.is_alphanumeric() => Some(character),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraphs(text: &str) -> Vec<(usize, String)> {
        let paragraphs = Page::parse(text).paragraphs;
        paragraphs.into_iter().map(|paragraph| (paragraph.line, paragraph.text)).collect()
    }

    #[test]
    fn paragraphs_and_items_are_prose_and_tables_code_and_headings_are_not() {
        let text = "# One 1\n\nA *b*\nc.\n\n* d\n* e\n\n  f\n\n| g | h |\n|---|---|\n| i | j |\n\n    k\n\n```sh\nl\n```\n\n> m\n";
        let expected = [(3, "A b c."), (6, "d"), (7, "e"), (9, "f"), (21, "m")]
            .map(|(l, t)| (l, t.to_owned()));
        assert_eq!(paragraphs(text), expected);
    }

    #[test]
    fn a_code_span_is_one_word_and_an_image_none() {
        let text = "Run `unruffled compare 1 2 3` [now](there.md). ![a picture](p.svg)";
        assert_eq!(paragraphs(text), [(1, "Run CODE now. ".to_owned())]);
    }

    #[test]
    fn an_item_that_has_a_list_is_a_paragraph_of_its_own() {
        let expected = [(1, "a"), (2, "b"), (3, "c")].map(|(l, t)| (l, t.to_owned()));
        assert_eq!(paragraphs("* a\n  * b\n* c\n"), expected);
    }

    #[test]
    fn anchors_are_those_of_github() {
        let text = "# What `x-y` costs, in all: 5 %\n## Twice\n## Twice\n<a id=\"here\"></a>\n";
        let anchors = Page::parse(text).anchors;
        assert_eq!(anchors, ["what-x-y-costs-in-all-5-", "twice", "twice-1", "here"]);
    }

    #[test]
    fn links_and_images_have_their_lines() {
        let page = Page::parse("[a](b.md#c)\n\n| [d](e) |\n|---|\n\n![f](g.svg)\n");
        let links: Vec<_> =
            page.links.iter().map(|link| (link.line, link.target.as_str())).collect();
        assert_eq!(links, [(1, "b.md#c"), (3, "e"), (6, "g.svg")]);
    }
}
