/** A part of a text. The text of a link is its address. */
export interface TextPart {
  text: string
  link: boolean
}

/** Excludes punctuation at the end of a link, Latin and Chinese. */
const link = /https?:\/\/[^\s<>"'，。；：！？、（）《》【】]*[^\s<>"'，。；：！？、（）《》【】.,;:!?)\]}]/gu

/** Splits a message into links and plain text. */
export function linkParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const match of text.matchAll(link)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), link: false })
    parts.push({ text: match[0], link: true })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ text: text.slice(end), link: false })
  return parts
}
