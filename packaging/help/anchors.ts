import { lexer } from 'marked'

/** Anchors of all headings of a Markdown text, in order, as GitHub makes them: links work there and in the console. */
export function anchorsOf(text: string): string[] {
  const used = new Map<string, number>()
  return lexer(text).flatMap((token) => (token.type === 'heading' ? [anchorOf(String(token.text), used)] : []))
}

function anchorOf(heading: string, used: Map<string, number>): string {
  const anchor = heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
  const count = used.get(anchor) ?? 0
  used.set(anchor, count + 1)
  return count === 0 ? anchor : `${anchor}-${count}`
}
