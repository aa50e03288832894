import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage } from '../../packaging/help/read-page.ts'
import { helpTopics } from '../../renderer/console/help/topics.ts'

const docs = join(import.meta.dirname, '../../docs')

test('Every help link of the console leads to an existing page and heading', async () => {
  const broken: string[] = []
  for (const [topic, address] of Object.entries(helpTopics)) {
    const [path = '', anchor] = address.split('#')
    const file = `${path.replace(/^\/help\//, '')}.md`
    const text = await readFile(join(docs, file), 'utf8').catch(() => undefined)
    const headings = readPage(text ?? '', { file, textOf: () => undefined }).headings
    if (text === undefined || (anchor !== undefined && !headings.some(({ id }) => id === anchor)))
      broken.push(`${topic}: ${address}`)
  }
  expect(broken).toEqual([])
})
