import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage } from '../../packaging/help/read-page.ts'
import { fieldTopics } from '../../renderer/console/help/setting-topics.ts'
import { helpTopics } from '../../renderer/console/help/topics.ts'
import { defaultSettings } from '../../shared/settings.ts'

const docs = join(import.meta.dirname, '../../docs')

test('Every help link of the console leads to an existing page and heading', async () => {
  const broken: string[] = []
  for (const [topic, address] of Object.entries(helpTopics)) {
    const [path = '', anchor] = address.split('#')
    const file = `${path.replace(/^\/help\//, '')}.md`
    const text = await readFile(join(docs, file), 'utf8').catch(() => undefined)
    const headings = readPage(text ?? '', { file, titleOf: () => undefined }).headings
    if (text === undefined || (anchor !== undefined && !headings.some(({ id }) => id === anchor)))
      broken.push(`${topic}: ${address}`)
  }
  expect(broken).toEqual([])
})

test('Every setting with a help link exists', () => {
  const settings: Record<string, unknown> = defaultSettings()
  const isThere = (path: string): boolean => {
    const [part = '', name = ''] = path.split('.')
    const card = settings[part]
    return typeof card === 'object' && card !== null && name in card
  }
  expect([...fieldTopics.keys()].filter((path) => !isThere(path))).toEqual([])
})
