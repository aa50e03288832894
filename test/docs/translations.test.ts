import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lexer, type Token, type Tokens } from 'marked'
import { expect, test } from 'vitest'
import { originalOf } from '../../packaging/help/page-links.ts'
import { readPage } from '../../packaging/help/read-page.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8')

test('Every translated page has the headings, tables and code of the English page, so that help topics lead to the same place', async () => {
  const files = (await readdir(join(root, 'docs'), { recursive: true })).map((name) => `docs/${name}`)
  const translated = files.flatMap((file) => {
    const original = originalOf(file)
    return original === undefined ? [] : [{ file, original }]
  })
  expect(translated.length).toBeGreaterThan(0)
  for (const { file, original } of translated) {
    const [text, english] = await Promise.all([read(file), read(original)])
    expect([file, shapeOf(text)]).toEqual([file, shapeOf(english)])
    const texts = new Map([[original, english]])
    const ids = readPage(text, { file, textOf: (name) => texts.get(name) }).headings.map(({ id }) => id)
    expect(ids).toEqual(readPage(english, { file: original, textOf: () => undefined }).headings.map(({ id }) => id))
  }
})

test('Links between translated pages lead to the English address of the same heading', () => {
  const texts: Record<string, string> = {
    'docs/operate/wall.md': '# The wall\n## Make a view\n',
    'docs/operate/de/wall.md': '# Die Wand\n## Eine Ansicht anlegen\n',
  }
  const page = { file: 'docs/operate/de/cameras.md', textOf: (file: string) => texts[file] }
  const [block] = readPage('[Ansicht](wall.md#eine-ansicht-anlegen) [Daten](../data.md#damage)', page).blocks
  expect(block?.kind === 'paragraph' ? block.parts.filter((part) => part !== ' ') : []).toEqual([
    { kind: 'link', to: '/help/operate/wall#make-a-view', parts: ['Ansicht'] },
    { kind: 'link', to: '/help/operate/data#damage', parts: ['Daten'] },
  ])
})

/** Depths of headings, sizes of tables, and code of a page, in order. */
function shapeOf(text: string): string[] {
  return lexer(text).flatMap((token) => {
    if (token.type === 'heading') return [`heading ${String(token.depth)}`]
    if (isTable(token)) return [`table ${String(token.header.length)} × ${String(token.rows.length)}`]
    return token.type === 'code' ? [String(token.text)] : []
  })
}

const isTable = (token: Token): token is Tokens.Table => token.type === 'table'
