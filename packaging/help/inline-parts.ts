import type { MarkedToken, Token, Tokens } from 'marked'
import type { InlinePart } from '../../renderer/console/help/page-content.ts'
import { consoleLink, linkedFile, type PageSource } from './page-links.ts'

/** Characters that the docs may write as entities. */
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0' }

const unescaped = (text: string): string =>
  text.replaceAll(/&(\w+);/g, (whole, name: string) =>
    Object.hasOwn(entities, name) ? (entities[name] ?? whole) : whole,
  )

/** Tells the parser's own tokens from those of extensions, which there are none of. */
export function isMarkedToken(token: Token): token is MarkedToken {
  return token.type !== 'generic'
}

/** Converts the tokens of one line of text. HTML stays text, except comments, which are dropped. */
export function inlineParts(tokens: readonly Token[] | undefined, page: PageSource): InlinePart[] {
  return (tokens ?? []).filter(isMarkedToken).flatMap((token) => partsOf(token, page))
}

function partsOf(token: MarkedToken, page: PageSource): InlinePart[] {
  switch (token.type) {
    case 'text':
      return token.tokens ? inlineParts(token.tokens, page) : [unescaped(token.text)]
    case 'escape':
      return [token.text]
    case 'codespan':
      return [{ kind: 'code', text: token.text }]
    case 'strong':
      return [{ kind: 'strong', parts: inlineParts(token.tokens, page) }]
    case 'em':
      return [{ kind: 'emphasis', parts: inlineParts(token.tokens, page) }]
    case 'del':
      return [{ kind: 'deleted', parts: inlineParts(token.tokens, page) }]
    case 'br':
      return [{ kind: 'break' }]
    case 'image':
      return [{ kind: 'image', src: token.href, text: token.text }]
    case 'link': {
      const to = consoleLink(token.href, page)
      const parts = to === undefined ? inlineParts(token.tokens, page) : linkText(token, page)
      return [to === undefined ? { kind: 'link', parts } : { kind: 'link', to, parts }]
    }
    case 'html':
      return token.text.startsWith('<!--') ? [] : [token.text]
    default:
      return []
  }
}

/** Text of a link; the name of a file becomes the title of its page. */
function linkText({ href, text, tokens }: Tokens.Link, page: PageSource): InlinePart[] {
  const linked = /^[\w-]+\.md$/.test(text) ? linkedFile(href, page.file) : undefined
  const [, title] = linked === undefined ? [] : (/^# (.+)$/m.exec(page.textOf(linked.file) ?? '') ?? [])
  return title === undefined ? inlineParts(tokens, page) : [title]
}

/** Text of parts without their markup. */
export function plainText(parts: readonly InlinePart[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      if (part.kind === 'break') return ' '
      return part.kind === 'code' || part.kind === 'image' ? part.text : plainText(part.parts)
    })
    .join('')
}
