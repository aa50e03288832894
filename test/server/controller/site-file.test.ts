import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSiteFile } from '../../../server/controller/site-file.ts'

const document = JSON.stringify({ credentials: [{ label: 'Küche', access_key: 'lobby', secret_key: 'a long secret' }] })
const marked = `\uFEFF${document}`

/** Path of a file with these bytes. */
async function saved(bytes: Buffer): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'site-file-')), 'site.json')
  await writeFile(path, bytes)
  return path
}

test.each([
  ['UTF-8', Buffer.from(document)],
  ['UTF-8 with a mark', Buffer.from(marked)],
  ['UTF-16, as PowerShell writes it', Buffer.from(marked, 'utf16le')],
  ['UTF-16 of the other byte order', Buffer.from(marked, 'utf16le').swap16()],
])('a site file in %s is read', async (_encoding, bytes) => {
  expect(await readSiteFile(await saved(bytes))).toMatchObject({ credentials: [{ label: 'Küche' }] })
})

test.each([
  ['Latin-1', Buffer.from(document, 'latin1')],
  ['UTF-16 without a mark', Buffer.from(document, 'utf16le')],
])('a site file in %s is refused, and the error says to save it as UTF-8', async (_encoding, bytes) => {
  await expect(readSiteFile(await saved(bytes))).rejects.toThrow(/save it as UTF-8/)
})

test('a site file names groups of test people, each once', async () => {
  const people = [{ name: 'lobby', people: 20, arrive: 'random=30', loss: 2 }]
  const read = await readSiteFile(await saved(Buffer.from(JSON.stringify({ lab: { people } }))))
  expect(read.lab?.people).toMatchObject([{ name: 'lobby', people: 20, rooms: 1, send: 'clip', talk: 'turns' }])
  const twice = JSON.stringify({ lab: { people: [...people, ...people] } })
  await expect(readSiteFile(await saved(Buffer.from(twice)))).rejects.toThrow('$.lab.people[1].name: is named twice')
  const wrong = JSON.stringify({ lab: { people: [{ name: 'lobby', arrive: 'soon' }] } })
  await expect(readSiteFile(await saved(Buffer.from(wrong)))).rejects.toThrow('$.lab.people[0].arrive: must be at-once')
})
