"""Pages as a reader sees them: which text is shown, section by section, line by line."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

VOID: Final = frozenset({"meta", "link", "img", "input", "br", "hr", "wbr"})
UNSHOWN: Final = frozenset({"script", "style", "head", "template"})
INLINE: Final = frozenset(
    {"a", "abbr", "bdi", "b", "code", "em", "i", "small", "span", "strong", "time", "label", "wbr"}
)


class Element:
    """An element with its attributes, and its children: elements and texts."""

    def __init__(self, tag: str, attributes: dict[str, str], parent: "Element | None" = None) -> None:
        self.tag = tag
        self.attributes = attributes
        self.parent = parent
        self.children: list[Element | str] = []

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def all(self, tag: str = "", **attributes: str) -> list["Element"]:
        """The elements inside that have this tag and these attributes, in order; ``cls`` stands for one class."""
        cls = attributes.pop("cls", None)
        return [
            one
            for one in self.walk()
            if (not tag or one.tag == tag)
            and (cls is None or cls in one.classes)
            and all(one.attributes.get(name) == value for name, value in attributes.items())
        ]

    def one(self, tag: str = "", **attributes: str) -> "Element":
        (only,) = self.all(tag, **attributes)
        return only

    def walk(self) -> Iterator["Element"]:
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.walk()

    @property
    def lines(self) -> list[str]:
        """The lines of text that are shown, spaces folded. Of a digest, what is there for the eye."""
        return [line for line in (" ".join(text.split()) for text in "".join(self._shown()).split("\n")) if line]

    @property
    def text(self) -> str:
        return " ".join(self.lines)

    @property
    def facts(self) -> list[list[str]]:
        """The key and value of each line of its lists."""
        return [
            [row.one("dt").text, row.one("dd").text] for row in self.all("div") if row.parent and row.parent.tag == "dl"
        ]

    def _shown(self) -> Iterator[str]:
        if self.tag in UNSHOWN or "hidden" in self.attributes or "unseen" in self.classes:
            return
        if "whole" in self.classes and self.parent and self.parent.all(cls="brief"):
            return
        edge = "" if self.tag in INLINE else "\n"
        yield edge
        for child in self.children:
            if isinstance(child, Element):
                yield from child._shown()
            else:
                yield child if self.tag == "pre" else child.replace("\n", " ")
        yield edge


class Page(HTMLParser):
    """A page; ``root`` holds all of it. Elements that are not closed where they must be are an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = Element("", {})
        self._open = self.root
        self.feed(text)
        self.close()
        assert self._open is self.root, f"<{self._open.tag}> is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self._open)
        self._open.children.append(element)
        if tag not in VOID:
            self._open = element

    def handle_endtag(self, tag: str) -> None:
        assert self._open.tag == tag, f"</{tag}> closes <{self._open.tag}>"
        assert self._open.parent
        self._open = self._open.parent

    def handle_data(self, data: str) -> None:
        self._open.children.append(data)

    @property
    def title(self) -> str:
        return "".join(child for child in self.root.one("title").children if isinstance(child, str))

    def section(self, id_: str) -> Element:
        return self.root.one(id=id_)

    @property
    def sections(self) -> list[str]:
        """The ids of the parts of a record, in the order in which they stand."""
        return [
            one.attributes["id"]
            for one in self.root.all()
            if one.tag in ("section", "header", "footer") and "id" in one.attributes
        ]

    @property
    def links(self) -> dict[str, str]:
        """Where the links of the page lead, by their text."""
        return {one.text: one.attributes["href"] for one in self.root.all("a")}
