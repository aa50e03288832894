import { lexer, type MarkedToken, type Token } from 'marked'
import type { Block, Heading, HelpPage } from '../../renderer/console/help/page-content.ts'
import { inlineParts, isMarkedToken, plainText } from './inline-parts.ts'
import { headingIds, type PageSource } from './page-links.ts'

/** Parses a page of the docs. */
export function readPage(text: string, page: PageSource): HelpPage {
  const blocks = blocksOf(lexer(text), page)
  const ids = headingIds(text, page).values()
  for (const block of blocks) if (block.kind === 'heading') block.id = ids.next().value ?? ''
  const [first] = blocks
  const hasTitle = first?.kind === 'heading' && first.depth === 1
  const below = hasTitle ? blocks.slice(1) : blocks
  return { title: hasTitle ? first.text : page.file, headings: headingsOf(below), blocks: below }
}

function headingsOf(blocks: readonly Block[]): Heading[] {
  return blocks.flatMap((block) =>
    block.kind === 'heading' ? [{ id: block.id, depth: block.depth, text: block.text }] : [],
  )
}

function blocksOf(tokens: readonly Token[], page: PageSource): Block[] {
  return tokens.filter(isMarkedToken).flatMap((token) => blockOf(token, page))
}

function blockOf(token: MarkedToken, page: PageSource): Block[] {
  switch (token.type) {
    case 'heading': {
      const parts = inlineParts(token.tokens, page)
      return [{ kind: 'heading', id: '', depth: token.depth, text: plainText(parts), parts }]
    }
    case 'paragraph':
      return [{ kind: 'paragraph', parts: inlineParts(token.tokens, page) }]
    case 'text':
      return [{ kind: 'paragraph', parts: inlineParts(token.tokens ?? [token], page) }]
    case 'code':
      return [{ kind: 'code', language: token.lang ?? '', text: token.text }]
    case 'list': {
      const items = token.items.map((item) => blocksOf(item.tokens, page))
      return [{ kind: 'list', ordered: token.ordered, start: token.start === '' ? 1 : token.start, items }]
    }
    case 'table': {
      const cells = (row: readonly { tokens: Token[] }[]) => row.map((cell) => inlineParts(cell.tokens, page))
      return [{ kind: 'table', head: cells(token.header), rows: token.rows.map(cells) }]
    }
    case 'blockquote':
      return [{ kind: 'quote', blocks: blocksOf(token.tokens, page) }]
    case 'hr':
      return [{ kind: 'rule' }]
    case 'html':
      return token.text.startsWith('<!--') ? [] : [{ kind: 'paragraph', parts: [token.text.trim()] }]
    default:
      return []
  }
}
