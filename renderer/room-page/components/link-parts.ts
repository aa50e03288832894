/** A part of a text. The text of a link is its address. */
export interface TextPart {
  text: string
  link: boolean
}

/** Excludes punctuation at the end of a link, Latin and Chinese. */
const link = /(https?:\/\/[^\s<>"'，。；：！？、（）《》【】]*[^\s<>"'，。；：！？、（）《》【】.,;:!?)\]}])/u

/** Splits a message into links and plain text. */
export function linkParts(text: string): TextPart[] {
  // The links, which the pattern captures, are at the odd places.
  const parts = text.split(link).map((part, index) => ({ text: part, link: index % 2 === 1 }))
  return parts.filter((part) => part.text !== '')
}
